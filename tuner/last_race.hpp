#pragma once
// The last race of a tuning: few candidates, nearly alike, told apart by as many rounds as that
// takes.

#include <map>
#include <vector>

#include "tuner/candidate_runner.hpp"
#include "tuner/tuner.hpp"

namespace heddle {

/// What was measured in it so far, and what that says. All racers run the first round; those that
/// are clearly slower than the fastest then leave, and the others' samples add up.
class LastRace {
 public:
  /// Where two copies of one kernel differ by less, more rounds tell nothing that anyone could
  /// feel.
  static constexpr double kFineNoise = 0.001;
  static constexpr int kMostRounds = 8;
  static constexpr double kMostSeconds = 0.5;  ///< of kernels running; then no further round

  /// `control` is the number of a second copy of racers.front(), or -1. The baseline may be null,
  /// and may be among the racers.
  LastRace(std::vector<Candidate*> racers, const Candidate* baseline, int control)
      : racers_(std::move(racers)), running_(racers_), baseline_(baseline), control_(control) {}

  /// Who runs in the next round; nobody where all is told, or where time is up.
  std::vector<int> next_round() const;
  /// One round's times; those that failed in it, as their `failure` says, leave. Each racer's
  /// `timing` is of all its rounds.
  void add(const RaceOutcome& outcome);

  /// Those that have not failed.
  std::vector<Candidate*> finalists() const;
  /// By how much the two copies differ, as a fraction: the far end of their ratio's interval.
  double noise() const;
  /// Its time over the reference's, from times taken in the same rounds alone.
  double ratio(const Candidate& racer, const Candidate& reference) const;
  /// What is inside the noise of the fastest counts as equal: then the baseline wins, else the best
  /// predicted of those that are faster than the baseline. Null where none is left.
  Candidate* winner() const;

 private:
  std::vector<Candidate*> by_prediction() const;
  const Candidate* reference() const;
  const Candidate* fastest() const;
  bool may_be_fastest(const Candidate& racer) const;
  const std::vector<double>& seconds(int id) const;

  void leave(const RaceOutcome& outcome);
  bool is_told() const;

  std::vector<Candidate*> racers_;
  std::vector<Candidate*> running_;  ///< who has left does not return: sample i is of one moment
  const Candidate* baseline_;
  int control_;
  bool control_runs_ = true;  ///< otherwise nobody knows the noise
  int rounds_ = 0;
  double spent_seconds_ = 0;
  std::map<int, Timing> timings_;  ///< of all rounds
};

}  // namespace heddle
