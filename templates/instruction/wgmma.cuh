#pragma once
// What surrounds the asynchronous matrix products of a warpgroup (four warps, the first a multiple
// of four; sm_90a). The products themselves, wgmma_set and wgmma_add, are in instruction_forms.cuh.
// All 128 threads call each function together.

#include "instruction/cp_async.cuh"
#include "matrix_descriptor.cuh"

namespace heddle {

/// Of the operand that begins at `tile` in shared memory, the same one for all threads. Where the
/// tile depends on a ring's stage, uniform(stage) (instruction/elect.cuh) lets ptxas keep
/// descriptors in uniform registers: one addition for each product instead of five instructions.
inline MatrixDescriptor matrix_descriptor(const void* tile, MatrixLayout layout) {
  return matrix_descriptor(shared_address(tile), layout);
}

// A product runs on after its call has returned, and the compiler does not know: it would move
// other accesses to the product's registers across fence and wait. pin() emits no instruction, but
// whatever wrote the registers stays before it and whatever reads them stays behind it.

template <int kCount>
inline void pin(float (&registers)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) asm volatile("" : "+f"(registers[i]));
}
template <int kCount>
inline void pin(unsigned (&registers)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) asm volatile("" : "+r"(registers[i]));
}
template <class Register, int kSteps, int kCount>
inline void pin(Register (&registers)[kSteps][kCount]) {
#pragma unroll
  for (int i = 0; i < kSteps; ++i) pin(registers[i]);
}

/// Before each run of products, directly: with a branch in between (a wait for a barrier is one)
/// ptxas adds a fence of its own (C7519) and may serialise all products (C7520). `registers` names
/// the arrays that the run reads or adds to and that were written by something else since the last
/// fence: accumulators (float[], float[][n]) and A operands (unsigned[], unsigned[][4]).
template <class... Registers>
inline void wgmma_fence(Registers&... registers) {
  (pin(registers), ...);
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

/// Closes the group of products issued since the last commit.
inline void wgmma_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

/// Until at most kPending of the newest groups are unfinished. `registers` names the arrays that
/// the finished ones wrote or read: only now may they be read or written.
template <int kPending, class... Registers>
inline void wgmma_wait(Registers&... registers) {
  static_assert(kPending >= 0, "no fewer than none may be unfinished");
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
  (pin(registers), ...);
}

}  // namespace heddle
