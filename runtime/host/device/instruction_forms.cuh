#pragma once
// The host twins of the matrix instructions that generator/instruction_forms.cpp writes: all of
// them, whichever a kernel asks for.

#include "host_calls.cuh"
#include "instruction/types.cuh"

namespace heddle {

namespace host {
HEDDLE_TWIN void multiply(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2],
                          WarpOperation operation) {
  WarpCall call;
  call.operation = operation;
  for (int i = 0; i < 4; ++i) call.a[i] = a[i], call.accumulator[i] = d[i];
  for (int i = 0; i < 2; ++i) call.b[i] = b[i];
  warp_call(call);
  for (int i = 0; i < 4; ++i) d[i] = call.accumulator[i];
}
}  // namespace host

HEDDLE_TWIN void mma_m16n8k16(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2],
                              BFloat16) {
  host::multiply(d, a, b, host::WarpOperation::kMultiplyBFloat16);
}
HEDDLE_TWIN void mma_m16n8k16(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2], Half) {
  host::multiply(d, a, b, host::WarpOperation::kMultiplyHalf);
}

}  // namespace heddle
