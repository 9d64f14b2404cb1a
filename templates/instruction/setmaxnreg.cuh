#pragma once
// Registers that warpgroups hand to each other (sm_90a).

namespace heddle {

constexpr bool is_register_count(int registers) {
  return registers % 8 == 0 && registers >= 24 && registers <= 256;
}

/// Gives back all but kRegisters registers of each thread. All warps of a warpgroup call it.
template <int kRegisters>
inline void decrease_registers() {
  static_assert(is_register_count(kRegisters), "a multiple of 8 from 24 to 256");
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

/// Waits until the block's pool has enough for kRegisters a thread and takes them. The pool is what
/// the launch reserved (registers at launch * threads) less what the warps hold now: where it can
/// never suffice, the kernel hangs.
template <int kRegisters>
inline void increase_registers() {
  static_assert(is_register_count(kRegisters), "a multiple of 8 from 24 to 256");
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

}  // namespace heddle
