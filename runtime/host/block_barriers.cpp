// Named barriers: bar.sync and bar.arrive.
#include <fmt/format.h>

#include "runtime/host/block_run.hpp"

namespace heddle {
namespace {

using host::WarpOperation;

constexpr int kWarpSize = 32;
constexpr int kMostBarriers = 16;

}  // namespace

void BlockRun::arrive(int warp) {
  const host::WarpCall& call = *lane(warp, 0).call;
  const bool block_wide = call.operation == WarpOperation::kSyncBlockAny;
  const int id = block_wide ? 0 : call.argument;
  const int expected = block_wide || call.threads == 0 ? shape_.threads : call.threads;
  Clocks& clocks = check_.clocks();
  Barrier& barrier = barriers_[id];
  if (barrier.expected == 0) barrier.expected = expected;
  if (barrier.expected != expected || expected % kWarpSize != 0 || id < 0 || id >= kMostBarriers) {
    report(FaultKind::kBarrierMisuse, warp, 0,
           fmt::format("barrier {} with {} threads, where {} were named before", id, expected,
                       barrier.expected));
    lost_ = true;
    return;
  }
  barrier.where = lane(warp, 0).where;
  for (int i = 0; i < kWarpSize; ++i) {
    Lane& entry = lane(warp, i);
    clocks.release(kWarpSize * warp + i, barrier.knowledge);
    barrier.any = barrier.any || (block_wide && entry.call->value != 0);
    entry.state = LaneState::kBarrier;
  }
  if (call.operation == WarpOperation::kArriveBarrier) {
    for (int i = 0; i < kWarpSize; ++i) clocks.tick(kWarpSize * warp + i);
    release(warp);
  } else {
    barrier.waiting.push_back(warp);
  }
  barrier.arrived += kWarpSize;
  if (barrier.arrived != barrier.expected) return;
  ++barrier_counts_[id];
  complete(barrier);
}

void BlockRun::complete(Barrier& barrier) {
  Clocks& clocks = check_.clocks();
  for (const int warp : barrier.waiting) {
    for (int i = 0; i < kWarpSize; ++i) {
      clocks.acquire(kWarpSize * warp + i, barrier.knowledge);
      clocks.tick(kWarpSize * warp + i);
      lane(warp, i).call->result = barrier.any;
    }
    release(warp);
  }
  barrier = {};
}

}  // namespace heddle
