#pragma once
// The host twin of templates/instruction/setmaxnreg.cuh.

#include "instruction/thread.cuh"

namespace heddle {

constexpr bool is_register_count(int registers) {
  return registers % 8 == 0 && registers >= 24 && registers <= 256;
}

template <int kRegisters>
HEDDLE_TWIN void decrease_registers() {
  static_assert(is_register_count(kRegisters), "a multiple of 8 from 24 to 256");
  host::exchange(host::WarpOperation::kDecreaseRegisters, kRegisters, 0);
}

template <int kRegisters>
HEDDLE_TWIN void increase_registers() {
  static_assert(is_register_count(kRegisters), "a multiple of 8 from 24 to 256");
  host::exchange(host::WarpOperation::kIncreaseRegisters, kRegisters, 0);
}

}  // namespace heddle
