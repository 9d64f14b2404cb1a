#pragma once
// Words of global memory that blocks share: tile counters and flags.

namespace heddle {

/// Returns the value before. Orders nothing else: enough to draw a tile number.
inline int atomic_add(int* address, int value) {
  int before;
  asm volatile("atom.add.relaxed.gpu.global.s32 %0, [%1], %2;"
               : "=r"(before)
               : "l"(__cvta_generic_to_global(address)), "r"(value)
               : "memory");
  return before;
}
inline unsigned atomic_add(unsigned* address, unsigned value) {
  unsigned before;
  asm volatile("atom.add.relaxed.gpu.global.u32 %0, [%1], %2;"
               : "=r"(before)
               : "l"(__cvta_generic_to_global(address)), "r"(value)
               : "memory");
  return before;
}

/// Counts 0, 1 ... last, 0, 1 ...: a counter that has been round is as it was. Returns the value
/// before.
inline unsigned atomic_increment(unsigned* address, unsigned last) {
  unsigned before;
  asm volatile("atom.inc.relaxed.gpu.global.u32 %0, [%1], %2;"
               : "=r"(before)
               : "l"(__cvta_generic_to_global(address)), "r"(last)
               : "memory");
  return before;
}

/// As atomic_add, but what this thread did before is seen by whoever reads the sum with acquire,
/// and what others released to it is seen here: for counting blocks that are done.
inline int atomic_add_ordered(int* address, int value) {
  int before;
  asm volatile("atom.add.acq_rel.gpu.global.s32 %0, [%1], %2;"
               : "=r"(before)
               : "l"(__cvta_generic_to_global(address)), "r"(value)
               : "memory");
  return before;
}

/// Puts `value` in place of what is returned.
inline int atomic_exchange(int* address, int value) {
  int before;
  asm volatile("atom.exch.relaxed.gpu.global.b32 %0, [%1], %2;"
               : "=r"(before)
               : "l"(__cvta_generic_to_global(address)), "r"(value)
               : "memory");
  return before;
}

/// Everything that was released with the value read is visible afterwards.
inline int load_acquire(const int* address) {
  int value;
  asm volatile("ld.acquire.gpu.global.s32 %0, [%1];"
               : "=r"(value)
               : "l"(__cvta_generic_to_global(address))
               : "memory");
  return value;
}

/// Everything that this thread wrote before is visible to whoever acquires `value`.
inline void store_release(int* address, int value) {
  asm volatile("st.release.gpu.global.s32 [%0], %1;" ::"l"(__cvta_generic_to_global(address)),
               "r"(value)
               : "memory");
}

}  // namespace heddle
