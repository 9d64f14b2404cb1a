#pragma once
// The host twin of templates/instruction/mbarrier.cuh.

#include "instruction/cp_async.cuh"

namespace heddle {

struct alignas(8) Barrier {
  unsigned long long state;
};

namespace host {
HEDDLE_TWIN bool ask(Barrier& barrier, BarrierOperation operation, int number) {
  BarrierCall call{operation, &barrier, number, false};
  barrier_call(call);
  return call.result;
}
}  // namespace host

HEDDLE_TWIN void init(Barrier& barrier, int arrivals) {
  host::ask(barrier, host::BarrierOperation::kInit, arrivals);
}
HEDDLE_TWIN void invalidate(Barrier& barrier) {
  host::ask(barrier, host::BarrierOperation::kInvalidate, 0);
}
HEDDLE_TWIN void arrive(Barrier& barrier) {
  host::ask(barrier, host::BarrierOperation::kArrive, 0);
}
HEDDLE_TWIN void arrive_expect_tx(Barrier& barrier, int bytes) {
  host::ask(barrier, host::BarrierOperation::kArriveExpect, bytes);
}
HEDDLE_TWIN void expect_tx(Barrier& barrier, int bytes) {
  host::ask(barrier, host::BarrierOperation::kExpect, bytes);
}

HEDDLE_TWIN bool test_wait(Barrier& barrier, unsigned parity) {
  return host::ask(barrier, host::BarrierOperation::kTest, static_cast<int>(parity));
}
HEDDLE_TWIN bool try_wait(Barrier& barrier, unsigned parity) {
  return test_wait(barrier, parity);
}
HEDDLE_TWIN void wait(Barrier& barrier, unsigned parity) {
  host::ask(barrier, host::BarrierOperation::kWait, static_cast<int>(parity));
}

}  // namespace heddle
