#pragma once
// The plain pipeline: tiles are requested kStages - 1 steps before they are used.

#include "instruction/cp_async.cuh"
#include "instruction/thread.cuh"

namespace heddle {

/// Calls consume(step, stage) for each step in [begin, end), with what load(step, stage) started
/// to copy into that stage already arrived. One barrier a step (two with a single stage).
template <int kStages, class Load, class Consume>
inline void load_ahead(int begin, int end, Load load, Consume consume) {
  constexpr int kAhead = kStages - 1;
#pragma unroll
  for (int i = 0; i < kAhead; ++i) {
    if (begin + i < end) load(begin + i, i);
    copy_async_commit();
  }
  int stage = 0;
#pragma unroll 1
  for (int step = begin; step < end; ++step) {
    if constexpr (kAhead == 0) {
      sync_block();  // the stage is no longer read
      load(step, 0);
      copy_async_commit();
      copy_async_wait<0>();
      sync_block();
    } else {
      copy_async_wait<kAhead - 1>();
      sync_block();  // the step has arrived, and the stage before it is no longer read
      const int free_stage = stage == 0 ? kAhead : stage - 1;
      if (step + kAhead < end) load(step + kAhead, free_stage);
      copy_async_commit();
    }
    consume(step, stage);
    stage = stage + 1 == kStages ? 0 : stage + 1;
  }
}

}  // namespace heddle
