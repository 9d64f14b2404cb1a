#pragma once
// The host twin of templates/instruction/named_barrier.cuh.

#include "instruction/thread.cuh"

namespace heddle {

HEDDLE_TWIN void arrive_team(int barrier, int threads) {
  host::WarpCall call;
  call.operation = host::WarpOperation::kArriveBarrier;
  call.argument = barrier;
  call.threads = threads;
  host::warp_call(call);
}

}  // namespace heddle
