#pragma once
// How consumers wake the guard for a tile.

#include "instruction/named_barrier.cuh"
#include "part/fa3_shared.cuh"

namespace heddle::fa3 {

/// Rung by the first team once for each tile, and once for the end. The guard sleeps at a named
/// barrier: a warp that waits for one in shared memory tries it again and again, and where three
/// do so all the time, an H200 issues a tenth less for those that compute.
///
/// A barrier may not be rung again before the guard has answered. Rings run ahead of it by one
/// more than the tile queue has slots, since it keeps the slot of a tile that it has not seen.
template <int kSlots>
class GuardBell {
 public:
  /// All of the first team.
  void ring() {
    arrive_team(kFirstWakeBarrier + turn_, kWakeThreads);
    advance();
  }
  /// All of the guard.
  void answer() {
    sync_team(kFirstWakeBarrier + turn_, kWakeThreads);
    advance();
  }

 private:
  void advance() { turn_ = turn_ == kSlots ? 0 : turn_ + 1; }

  int turn_ = 0;
};

}  // namespace heddle::fa3
