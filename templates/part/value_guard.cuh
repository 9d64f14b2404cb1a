#pragma once
// A role that looks at the masked value blocks of guarded tiles before consumers multiply them
// (part/redo_list.cuh): the warps of the producer's warpgroup that do not load.

#include "instruction/fence.cuh"
#include "part/fa3_shared.cuh"
#include "part/guard_bell.cuh"
#include "part/warpgroup_sanitize.cuh"

namespace heddle::fa3 {

/// Warps 1 to 3 of the producer's warpgroup.
template <class Config>
class ValueGuard {
 public:
  ValueGuard(const AttentionParameters& parameters, SharedStorage<Config>& shared)
      : parameters_(parameters), shared_(shared), tiles_(shared.tiles) {}

  void run() {
    bool is_again = false;
#pragma unroll 1
    for (;;) {
      walk();
      if constexpr (!Shape<Config>::kWatched) return;
      if (is_again || !shared_.redo.needs_another_round()) return;
      is_again = true;
      if constexpr (!Config::kPersistent) continue;
      tiles_.advance();
      tiles_.release();
    }
  }

 private:
  void walk() {
    WorkItem item;
    for (;;) {
      GuardBell<Config::kQueryStages>::answer(tiles_.place());
      if (!tiles_.next(item)) return;
      const Work<Config> work(parameters_, item);
      const bool is_guarded =
          !Shape<Config>::kWatched || shared_.redo.entry[tiles_.slot()] == shared_.redo.kGuarded;
      tiles_.advance();
      tiles_.release();
      if (is_guarded) {
        check(work);
      } else {
        values_.skip(maximum(work.range.end - work.range.begin, 0));
      }
      if constexpr (!Config::kPersistent) return;
    }
  }

  void check(const Work<Config>& work) {
#pragma unroll 1
    for (int block = work.range.end - 1; block >= work.range.begin; --block, values_.next()) {
      if (block < work.range.first_masked) continue;
      wait(shared_.landed[landed_.slot()], landed_.parity());
      check_block();
      landed_.next();
    }
  }

  /// This warp among the guards.
  static int guard() {
    return warp() % 4 - 1;
  }

  void check_block() {
    const bool found =
        sanitize_tile<typename Config::Element, Shape<Config>::kKeyBytes, kGuardThreads>(
            shared_.value[values_.slot()], kWarpSize * guard() + lane());
    const bool any = warp_any(found);
    // The next block to land in this slot waits for what is read here to have been told.
    int(&votes)[kGuardWarps] = shared_.guard_votes[landed_.slot()];
    if (lane() == 0) votes[guard()] = any;
    fence_async_shared();
    sync_team(kGuardBarrier, kGuardThreads);
    if (guard() != 0 || lane() != 0) return;
    int some = 0;
#pragma unroll
    for (const int vote : votes) some |= vote;
    shared_.nonfinite[values_.slot()] = some;
    arrive(shared_.value_ring.full[values_.slot()]);
  }

  const AttentionParameters& parameters_;
  SharedStorage<Config>& shared_;
  TileReader<Config::kQueryStages> tiles_;
  RingPlace<Config::kStages> values_;  ///< every value block
  RingPlace<Config::kStages> landed_;  ///< the masked ones
};

}  // namespace heddle::fa3
