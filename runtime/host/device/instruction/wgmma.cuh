#pragma once
// The host twin of templates/instruction/wgmma.cuh.

#include "instruction/cp_async.cuh"
#include "matrix_descriptor.cuh"

namespace heddle {

HEDDLE_TWIN MatrixDescriptor matrix_descriptor(const void* tile, MatrixLayout layout) {
  return matrix_descriptor(shared_address(tile), layout);
}

namespace host {

template <int kCount>
inline RegisterRange registers_of(float (&registers)[kCount]) {
  return {reinterpret_cast<unsigned*>(registers), kCount};
}
template <int kCount>
inline RegisterRange registers_of(unsigned (&registers)[kCount]) {
  return {registers, kCount};
}
template <class Register, int kSteps, int kCount>
inline RegisterRange registers_of(Register (&registers)[kSteps][kCount]) {
  return {reinterpret_cast<unsigned*>(registers[0]), kSteps * kCount};
}

template <class... Registers>
HEDDLE_TWIN void around_products(WarpOperation operation, int argument, Registers&... registers) {
  const RegisterRange ranges[] = {registers_of(registers)..., {nullptr, 0}};
  WarpCall call;
  call.operation = operation;
  call.argument = argument;
  call.registers = ranges;
  call.register_ranges = static_cast<int>(sizeof...(Registers));
  warp_call(call);
}

}  // namespace host

template <class... Registers>
HEDDLE_TWIN void wgmma_fence(Registers&... registers) {
  host::around_products(host::WarpOperation::kProductFence, 0, registers...);
}
HEDDLE_TWIN void wgmma_commit() {
  host::around_products(host::WarpOperation::kProductCommit, 0);
}
template <int kPending, class... Registers>
HEDDLE_TWIN void wgmma_wait(Registers&... registers) {
  static_assert(kPending >= 0, "no fewer than none may be unfinished");
  host::around_products(host::WarpOperation::kProductWait, kPending, registers...);
}

// The compiler of the host needs no reminder of what an asynchronous product may do.
template <class Registers>
inline void pin(Registers&) {}

}  // namespace heddle
