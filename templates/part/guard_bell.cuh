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
/// more than the tile queue has slots, since it keeps the slot of a tile that it has not seen: each
/// phase of each slot has a barrier, so that nobody has to count.
template <int kSlots>
struct GuardBell {
  /// All of the first team, for a tile of the queue.
  static void ring(const RingPlace<kSlots>& tile) { arrive_team(barrier(tile), kWakeThreads); }
  /// All of the guard.
  static void answer(const RingPlace<kSlots>& tile) { sync_team(barrier(tile), kWakeThreads); }

 private:
  static int barrier(const RingPlace<kSlots>& tile) {
    return kFirstWakeBarrier + 2 * tile.slot() + static_cast<int>(tile.parity());
  }
};

}  // namespace heddle::fa3
