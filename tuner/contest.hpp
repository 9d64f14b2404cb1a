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
  static constexpr std::size_t kMostNear = 24;  ///< so many of them at most: the best

  /// The runner outlives it.
  Contest(CandidateRunner& runner, int samples) : runner_(runner), samples_(samples) {}

  /// Times candidates that passed the check beside the best so far: each gets `timing` and
  /// `relative`, or `failure`. The first ever is what all are relative to. Hopeless ones leave.
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

 private:
  RaceOutcome race(const std::vector<Candidate*>& racers, const RaceRound& round);
  void find_leader();
  void screen_beside_next(std::vector<Candidate*> batch);
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
  std::vector<Candidate*> standing_;  ///< measured, loaded and not hopeless
};

}  // namespace heddle
