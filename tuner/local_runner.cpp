#include "tuner/local_runner.hpp"

#include <algorithm>

namespace heddle {
namespace {

/// Of a context in which nothing runs but candidates, one after the other, there is no earlier work
/// to blame, as the driver's error says to a user: "… already held NAME (…) when …".
std::string fault_text(const Error& error) {
  const std::string message = error.what(), front = "already held ";
  const std::size_t found = message.find(front);
  if (found == std::string::npos) return message;
  const std::size_t start = found + front.size();
  return "faulted: " + message.substr(start, message.find(" when ", start) - start);
}

}  // namespace

LocalRunner::LocalRunner(const Device& device, Compiler& compiler, const Problem& problem,
                         const RunnerInputs& inputs, Note note)
    : device_(device),
      compiler_(compiler),
      problem_(problem),
      given_(inputs),
      note_(std::move(note)) {
  gate_ = std::make_unique<Gate>(device_, compiler_, problem_, given_.seed);
  const auto spin = compiler_.compile(spin_kernel_source(device_.limits().architecture));
  meter_ = std::make_unique<Meter>(device_, spin->cubin);
}

LocalRunner::~LocalRunner() = default;

LocalRunner::Loaded LocalRunner::make_loaded(const Contestant& contestant) const {
  Loaded loaded;
  loaded.config = contestant.config;
  loaded.plan = plan_launch(problem_, contestant.config, device_.limits());
  loaded.kernels = load_config(device_, problem_.variant, contestant.config, *contestant.kernels);
  return loaded;
}

void LocalRunner::look_after_device() {
  try {
    device_.synchronize();
  } catch (const Error&) {
    usable_ = false;
  }
}

/// Whether the problem's own tensors do, before any candidate wants memory beside them.
bool LocalRunner::fits(const Problem& problem) const {
  try {
    const ProblemBuffers buffers(device_, problem, 0);
    return true;
  } catch (const Error&) {
    return false;
  }
}

/// No candidate's fault.
bool LocalRunner::is_lack_of_memory(const Error& error) const {
  if (error.code() != ErrorCode::kOutOfMemory) return false;
  const auto checked = gate_problems(problem_);
  return std::any_of(checked.begin(), checked.end(),
                     [&](const Problem& problem) { return !fits(problem); });
}

CheckOutcome LocalRunner::check(const Contestant& contestant) {
  CheckOutcome outcome;
  note(contestant.id);
  try {
    Loaded loaded = make_loaded(contestant);
    const Comparison comparison = gate_->check(contestant.config, *loaded.kernels);
    outcome.record = comparison.record;
    if (comparison.record.passed) {
      loaded_[contestant.id] = std::move(loaded);
      return outcome;
    }
    outcome.failure = "wrong result: " + comparison.explanation;
    // What else it wrote to nobody knows.
    if (comparison.explanation == kGuardBandWritten) usable_ = false;
  } catch (const Error& error) {
    if (is_lack_of_memory(error)) throw;
    outcome.failure = fault_text(error);
    look_after_device();
  }
  return outcome;
}

void LocalRunner::load(const Contestant& contestant) {
  loaded_[contestant.id] = make_loaded(contestant);
}

/// Input sets with a workspace for all of them; those that want more than there is are out.
std::vector<int> LocalRunner::prepare_inputs(const RaceRound& round, RaceOutcome& outcome) {
  std::vector<int> ids = round.ids;
  const auto needs = [&](int id) { return loaded_.at(id).plan.workspace_bytes; };
  while (!ids.empty()) {
    const auto most = std::max_element(
        ids.begin(), ids.end(), [&](int left, int right) { return needs(left) < needs(right); });
    if (inputs_ && needs(*most) <= workspace_bytes_) break;
    inputs_.reset();
    for (auto& [id, loaded] : loaded_) loaded.parameters.clear();
    try {
      inputs_ = std::make_unique<InputSets>(device_, problem_, needs(*most), given_.seed ^ 1,
                                            InputOptions{}, given_.warm);
      workspace_bytes_ = needs(*most);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kOutOfMemory) throw;
      if (needs(*most) == 0 || !fits(problem_)) throw;  // the problem itself is too large
      outcome.failures[*most] = error.what();
      ids.erase(most);
    }
  }
  for (const int id : ids) {
    Loaded& loaded = loaded_.at(id);
    if (loaded.parameters.empty()) {
      loaded.parameters = inputs_->parameters(loaded.config, loaded.plan);
    }
  }
  return ids;
}

/// One launch of each alone, so that one that fails is known by name.
std::vector<int> LocalRunner::try_each(std::vector<int> ids, RaceOutcome& outcome) {
  std::vector<int> good;
  for (const int id : ids) {
    note(id);
    try {
      const Loaded& loaded = loaded_.at(id);
      device_.make_current();
      loaded.kernels->launch(loaded.plan, loaded.parameters.front(), meter_->stream());
      device_.synchronize();
      good.push_back(id);
    } catch (const Error& error) {
      outcome.failures[id] = fault_text(error);
      look_after_device();
      if (!usable_) return {};
    }
  }
  return good;
}

void LocalRunner::time_together(const std::vector<int>& ids, const RaceRound& round,
                                RaceOutcome& outcome) {
  std::vector<Meter::Work> work;
  for (const int id : ids) {
    const Loaded& loaded = loaded_.at(id);
    work.emplace_back([&loaded](int iteration, DriverStream stream) {
      const auto set = static_cast<std::size_t>(iteration) % loaded.parameters.size();
      loaded.kernels->launch(loaded.plan, loaded.parameters[set], stream);
    });
  }
  note(kEverybody);
  Meter::Options options;
  options.warm_ups = round.warm_ups;
  options.samples = round.samples;
  const auto timings = meter_->compare(work, options);
  for (std::size_t i = 0; i < ids.size(); ++i) outcome.timings[ids[i]] = timings[i];
}

RaceOutcome LocalRunner::race(const RaceRound& round) {
  RaceOutcome outcome;
  const std::vector<int> ids = try_each(prepare_inputs(round, outcome), outcome);
  if (ids.empty()) return outcome;
  try {
    time_together(ids, round, outcome);
  } catch (const Error& error) {
    outcome.broken = fault_text(error);
    look_after_device();
  }
  return outcome;
}

void LocalRunner::release(int id) {
  loaded_.erase(id);
}

}  // namespace heddle
