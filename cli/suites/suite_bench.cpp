#include "cli/suites/suite_bench.hpp"

#include <algorithm>
#include <iostream>
#include <random>

#include <fmt/format.h>

#include "cli/gpu.hpp"
#include "generator/cost_model.hpp"
#include "generator/legality.hpp"
#include "tuner/config_kernels.hpp"

namespace heddle {
namespace {

/// A config measured elsewhere must not be expected to lose more than this to the default here
/// (as in selection).
constexpr double kMostPredictedLoss = 1.25;

/// Whether two cases can read the same tensors.
bool share_inputs(const Problem& left, Problem right) {
  right.sizes.num_splits = left.sizes.num_splits;
  return left == right;
}

}  // namespace

/// A case on its way through measure().
struct SuiteBench::Entry {
  std::size_t index = 0;
  Racer racer;
  std::shared_ptr<InputSets> inputs;
};

SuiteBench::SuiteBench(const ServiceFlags& services, int samples)
    : device_(open_gpu(services)),
      compiler_(services.compiler_options()),
      store_(services.results_options()),
      samples_(samples) {
  const auto spin = compiler_.compile(spin_kernel_source(device_->limits().architecture));
  meter_ = std::make_unique<Meter>(*device_, spin->cubin);
}

SuiteBench::~SuiteBench() = default;

Choice SuiteBench::choose(const Problem& problem) const {
  const SelectionQuestion question{problem.variant, bucket_of(problem.sizes), false};
  return select(question, {&device_->limits(), &device_->device_class()}, &store_);
}

Choice SuiteBench::choose(const Problem& problem, Family family) const {
  const DeviceLimits& limits = device_->limits();
  Choice choice;
  choice.config = family_default(family, problem, limits);
  const double default_seconds = predict(problem, choice.config, limits).seconds;
  const auto weigh = [&](const Lookup& answer) {
    const bool is_foreign = answer.config.family != family;
    if (is_foreign || reject(problem.variant, answer.config, limits)) return Verdict::kNextConfig;
    if (answer.match == Match::kExact) return Verdict::kTake;
    const bool loses =
        predict(problem, answer.config, limits).seconds > kMostPredictedLoss * default_seconds;
    return loses ? Verdict::kNextPlace : Verdict::kTake;
  };
  const auto answer =
      store_.find(problem.variant, bucket_of(problem.sizes), device_->device_class(), weigh);
  if (!answer) return choice;
  choice.config = answer->config;
  choice.match = answer->match;
  choice.bucket = answer->bucket;
  return choice;
}

std::optional<Racer> SuiteBench::prepare(const SuiteCase& entry, SuiteTiming& timing) {
  const DeviceLimits& limits = device_->limits();
  if (const auto rejection = reject(entry.problem.variant, entry.config, limits)) {
    timing.failure = rejection->reason;
    return std::nullopt;
  }
  try {
    const auto compiled = compile_config(compiler_, entry.problem.variant, entry.config, limits);
    if (compiled.rejection) {
      std::cerr << fmt::format("note: {}: {}\n", canonical_text(entry.config),
                               compiled.rejection->reason);
    }
    Racer racer;
    racer.kernels = load_config(*device_, entry.problem.variant, entry.config, compiled);
    racer.plan = plan_launch(entry.problem, entry.config, limits);
    return racer;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kCompileFailed) throw;
    timing.failure = error.what();
    return std::nullopt;
  }
}

/// Largest workspace first, so that those who follow share what it has; what does not fit is out.
void SuiteBench::give_inputs(const std::vector<SuiteCase>& cases, std::vector<Entry>& entries,
                             std::vector<SuiteTiming>& timings) {
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& left, const Entry& right) {
    return left.racer.plan.workspace_bytes > right.racer.plan.workspace_bytes;
  });
  for (Entry& entry : entries) {
    const Problem& problem = cases[entry.index].problem;
    for (const Entry& other : entries) {
      if (other.inputs && share_inputs(cases[other.index].problem, problem)) {
        entry.inputs = other.inputs;
      }
    }
    if (entry.inputs) continue;
    try {
      entry.inputs = std::make_shared<InputSets>(
          *device_, problem, entry.racer.plan.workspace_bytes, std::random_device{}());
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kOutOfMemory) throw;
      timings[entry.index].failure = error.what();
    }
  }
  std::erase_if(entries, [](const Entry& entry) { return !entry.inputs; });
}

std::vector<SuiteTiming> SuiteBench::measure(const std::vector<SuiteCase>& cases) {
  std::vector<SuiteTiming> timings(cases.size());
  std::vector<Entry> entries;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    auto racer = prepare(cases[i], timings[i]);
    if (racer) entries.push_back({i, std::move(*racer), nullptr});
  }
  give_inputs(cases, entries, timings);
  std::vector<Racer> racers;
  for (Entry& entry : entries) {
    const KernelConfig& config = cases[entry.index].config;
    racers.push_back(std::move(entry.racer));
    racers.back().parameters = entry.inputs->parameters(config, racers.back().plan);
  }
  if (!racers.empty()) race(*meter_, racers, samples_);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const Timing& timing = racers[i].timing;
    SuiteTiming& result = timings[entries[i].index];
    result = {timing.median_seconds, timing.spread_seconds, timing.clock_mhz, {}};
    if (!result.measured()) result.failure = "the events tell no time";
  }
  return timings;
}

}  // namespace heddle
