#pragma once
// Ping-pong: warpgroups take turns at starting products, so that the tensor cores work for one
// while another computes its softmax.

#include "instruction/named_barrier.cuh"
#include "warpgroup_layout.cuh"

namespace heddle {

/// Every team takes and gives the same number of turns, first team 0. Uses the named barriers
/// kFirstBarrier to kFirstBarrier + kTeams - 1.
template <int kTeams, int kFirstBarrier, bool kEnabled>
class Turns {
  static constexpr int kThreads = 2 * kWarpgroupWarps * kWarpSize;  ///< who gives and who takes

 public:
  explicit Turns(int team) : team_(team) {
    if (kEnabled && team == kTeams - 1) give();
  }

  void take() const {
    if constexpr (kEnabled) sync_team(kFirstBarrier + team_, kThreads);
  }
  void give() const {
    const int next = team_ + 1 == kTeams ? 0 : team_ + 1;
    if constexpr (kEnabled) arrive_team(kFirstBarrier + next, kThreads);
  }

  /// Takes what the last team gave last, so that no barrier is left half-way.
  void finish() const {
    if (kEnabled && team_ == 0) take();
  }

 private:
  int team_;
};

}  // namespace heddle
