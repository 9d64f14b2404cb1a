#include "tuner/worker_runner.hpp"

#include <algorithm>

#include "tuner/local_runner.hpp"
#include "tuner/worker_messages.hpp"

namespace heddle {

using nlohmann::json;

WorkerRunner::WorkerRunner(WorkerSetup setup, const Problem& problem, const RunnerInputs& inputs,
                           const RunnerLimits& limits, std::function<bool()> interrupted)
    : setup_(std::move(setup)),
      problem_(problem),
      inputs_(inputs),
      limits_(limits),
      interrupted_(std::move(interrupted)) {
  worker();
}

WorkerRunner::~WorkerRunner() = default;

Patience WorkerRunner::patience(double seconds) {
  Patience patience;
  patience.seconds = seconds;
  patience.interrupted = interrupted_;
  patience.note = [this](const json& note) { last_noted_ = note.get<int>(); };
  return patience;
}

WorkerProcess& WorkerRunner::worker() {
  if (worker_) return *worker_;
  auto fresh = std::make_unique<WorkerProcess>(setup_);
  try {
    fresh->ask(
        {{"do", "prepare"}, {"problem", to_message(problem_)}, {"inputs", to_message(inputs_)}},
        patience(limits_.prepare_seconds));
  } catch (const WorkerLost& lost) {
    if (lost.why == WorkerLost::Why::kInterrupted) throw;
    throw Error(ErrorCode::kDriverError, "worker",
                std::string("the worker could not compute the reference: ") + lost.what());
  }
  loaded_.clear();
  worker_ = std::move(fresh);
  return *worker_;
}

std::string WorkerRunner::lose_worker(const WorkerLost& lost) {
  worker_.reset();
  if (lost.why == WorkerLost::Why::kInterrupted) throw lost;
  ++lost_;
  if (lost.why == WorkerLost::Why::kTimedOut) return std::string("timed out: ") + lost.what();
  return std::string("its worker process ") + lost.what();
}

CheckOutcome WorkerRunner::check(const Contestant& contestant) {
  WorkerProcess& process = worker();
  try {
    const json answer = process.ask({{"do", "check"}, {"contestant", to_message(contestant)}},
                                    patience(limits_.candidate_seconds));
    const CheckOutcome outcome = check_outcome_of(answer.at("outcome"));
    if (!answer.at("usable").get<bool>()) {
      worker_.reset();
      ++lost_;
    }
    if (outcome.failure.empty()) {
      passed_[contestant.id] = contestant;
      loaded_[contestant.id] = true;
    }
    return outcome;
  } catch (const WorkerLost& lost) {
    return {std::nullopt, lose_worker(lost)};
  }
}

/// What a worker before this one had loaded.
void WorkerRunner::load_missing(const std::vector<int>& ids, RaceOutcome& outcome) {
  for (const int id : ids) {
    WorkerProcess& process = worker();
    if (loaded_[id] || outcome.failures.count(id) > 0) continue;
    try {
      process.ask({{"do", "load"}, {"contestant", to_message(passed_.at(id))}},
                  patience(limits_.candidate_seconds));
      loaded_[id] = true;
    } catch (const WorkerLost& lost) {
      outcome.failures[id] = lose_worker(lost);
      return load_missing(ids, outcome);
    } catch (const Error& error) {
      outcome.failures[id] = error.what();
    }
  }
}

RaceOutcome WorkerRunner::race_once(const RaceRound& round) {
  RaceOutcome outcome;
  load_missing(round.ids, outcome);
  if (!outcome.failures.empty()) return outcome;
  last_noted_ = LocalRunner::kEverybody;
  try {
    const json answer = worker().ask({{"do", "race"}, {"round", to_message(round)}},
                                     patience(limits_.candidate_seconds));
    if (!answer.at("usable").get<bool>()) {
      worker_.reset();
      ++lost_;
    }
    return race_outcome_of(answer.at("outcome"));
  } catch (const WorkerLost& lost) {
    const std::string failure = lose_worker(lost);
    if (last_noted_ == LocalRunner::kEverybody) {
      outcome.broken = failure;
    } else {
      outcome.failures[last_noted_] = failure;
    }
    return outcome;
  }
}

/// Each alone: who fails then is out.
RaceOutcome WorkerRunner::find_culprit(const RaceRound& round) {
  RaceOutcome found;
  for (const int id : round.ids) {
    const RaceOutcome alone = race_once({{id}, round.warm_ups, round.samples});
    if (alone.timings.count(id) > 0) continue;
    const auto failure = alone.failures.find(id);
    found.failures[id] = failure == alone.failures.end() ? alone.broken : failure->second;
  }
  return found;
}

RaceOutcome WorkerRunner::race(const RaceRound& round) {
  RaceRound rest = round;
  std::map<int, std::string> failures;
  bool searched = false;
  while (true) {
    RaceOutcome outcome = race_once(rest);
    const bool search = !outcome.broken.empty() && !searched;
    if (search) {
      outcome = find_culprit(rest);
      searched = true;
    }
    const bool repeat = outcome.timings.empty() && (search || !outcome.failures.empty());
    for (const auto& [id, failure] : outcome.failures) {
      failures[id] = failure;
      std::erase(rest.ids, id);
      release(id);
    }
    if (repeat && !rest.ids.empty()) continue;
    outcome.failures = failures;
    return outcome;
  }
}

void WorkerRunner::release(int id) {
  passed_.erase(id);
  if (!worker_ || !loaded_[id]) return;
  loaded_[id] = false;
  try {
    worker_->ask({{"do", "release"}, {"id", id}}, patience(limits_.candidate_seconds));
  } catch (const WorkerLost& lost) {
    lose_worker(lost);
  }
}

}  // namespace heddle
