#pragma once
// Who is fastest, told in turns: what is compared is never a time but a ratio of times taken within
// one round, since a card slows down as it warms.

#include <functional>
#include <memory>

#include "tuner/candidate_runner.hpp"
#include "tuner/tuner.hpp"

namespace heddle {

class Contest {
 public:
  static constexpr int kScreenSamples = 5;
  static constexpr double kNear = 1.08;  ///< times the best: may still win when measured better
  /// So many of them, the best: the most where kernels are short, the least whatever they take.
  static constexpr std::size_t kLeastNear = 24;
  static constexpr std::size_t kMostNear = 48;

  /// The runner outlives it.
  Contest(CandidateRunner& runner, int samples) : runner_(runner), samples_(samples) {}

  /// Times candidates that passed the check beside a reference: each gets `timing` and `relative`,
  /// or `failure`. The first ever is what all are relative to, and the reference until the best
  /// leaves it far behind. It is not the best so far, which is in part the luckiest: each that took
  /// over would flatter all after it by its luck, and those that were measured early would lose
  /// their place in the last race. Hopeless ones leave.
  void screen(const std::vector<Candidate*>& batch);

  /// Of those near the best, and `baseline` if it is not null, a LastRace with a second copy of the
  /// leader as control.
  struct Result {
    Candidate* winner = nullptr;
    double noise = 0;  ///< by how much the two copies differed, as a fraction
    std::vector<Candidate*> finalists;
    /// Measured anew on the way there and not close enough: what a lucky screening promised is
    /// gone.
    std::vector<Candidate*> outrun;
  };
  Result shoot_out(std::vector<Candidate*> finalists, Candidate* baseline);

  Candidate* leader() const { return leader_; }
  /// Whether shoot_out() would have it.
  bool is_near(const Candidate& candidate) const;
  /// So many of those shoot_out() would have, the best.
  std::size_t most_near() const;

 private:
  RaceOutcome race(const std::vector<Candidate*>& racers, const RaceRound& round);
  void find_leader();
  double runner_up() const;
  struct Narrowed {
    std::vector<Candidate*> close, outrun;
  };
  Narrowed narrow(std::vector<Candidate*> racers, Candidate* baseline);
  int add_control(const Candidate& leader);
  Result judge(const std::vector<Candidate*>& racers, Candidate* baseline, int control);

  CandidateRunner& runner_;
  int samples_;
  Candidate* leader_ = nullptr;
  Candidate* first_ = nullptr;        ///< what all are relative to; never leaves
  Candidate* reference_ = nullptr;    ///< runs in every round of screening
  std::vector<Candidate*> standing_;  ///< measured, loaded and not hopeless
};

}  // namespace heddle
