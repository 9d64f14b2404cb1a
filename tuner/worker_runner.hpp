#pragma once

#include "tuner/candidate_runner.hpp"
#include "tuner/worker_process.hpp"

namespace heddle {

struct RunnerLimits {
  double candidate_seconds = 10;  ///< for one candidate's check, or one round of the race
  double prepare_seconds = 300;   ///< for the references
};

/// Checks and measures in a worker: whatever a candidate does there costs one worker, which is
/// replaced, and becomes the candidate's failure.
class WorkerRunner final : public CandidateRunner {
 public:
  /// Starts the first worker. Throws Error where none can get ready.
  WorkerRunner(WorkerSetup setup, const Problem& problem, const RunnerInputs& inputs,
               const RunnerLimits& limits, std::function<bool()> interrupted);
  ~WorkerRunner() override;

  /// These throw WorkerLost (kInterrupted), and Error where no worker can get ready.
  CheckOutcome check(const Contestant& contestant) override;
  RaceOutcome race(const RaceRound& round) override;
  void release(int id) override;
  bool usable() const override { return true; }
  int lost_workers() const { return lost_; }

 private:
  WorkerProcess& worker();
  Patience patience(double seconds);
  void load_missing(const std::vector<int>& ids, RaceOutcome& outcome);
  RaceOutcome race_once(const RaceRound& round);
  RaceOutcome find_culprit(const RaceRound& round);
  /// Drops the worker; what to say of the candidate it was busy with.
  std::string lose_worker(const WorkerLost& lost);

  WorkerSetup setup_;
  Problem problem_;
  RunnerInputs inputs_;
  RunnerLimits limits_;
  std::function<bool()> interrupted_;
  std::unique_ptr<WorkerProcess> worker_;
  std::map<int, Contestant> passed_;
  std::map<int, bool> loaded_;  ///< in the present worker
  int last_noted_ = 0;
  int lost_ = 0;
};

}  // namespace heddle
