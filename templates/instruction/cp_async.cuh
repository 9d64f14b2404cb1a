#pragma once
// Asynchronous copies from global to shared memory (sm_80+).

#include "instruction/memory.cuh"

namespace heddle {

/// A shared-memory pointer as the 32-bit address that PTX takes.
inline unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

/// Starts a copy of kBytes (4, 8 or 16) to `destination` + `offset` bytes. Where `valid` is false
/// the destination becomes zero and the source is not read.
template <int kBytes>
inline void copy_async(void* destination, int offset, const void* source, bool valid) {
  static_assert(kBytes == 4 || kBytes == 8 || kBytes == 16, "cp.async moves 4, 8 or 16 bytes");
  const unsigned to = shared_address(destination) + offset;
  const int source_bytes = valid ? kBytes : 0;
  if constexpr (kBytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(source),
                 "r"(source_bytes)
                 : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(source),
                 "n"(kBytes), "r"(source_bytes)
                 : "memory");
  }
}

/// The same for a source that is known to be valid.
template <int kBytes>
inline void copy_async(void* destination, int offset, const void* source) {
  const unsigned to = shared_address(destination) + offset;
  if constexpr (kBytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(source) : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(source), "n"(kBytes)
                 : "memory");
  }
}

/// Starts a copy of `source_bytes` (0 to 16) bytes; zeros fill the destination up to 16.
inline void copy_async_part(void* destination, const void* source, int source_bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(destination)),
               "l"(source), "r"(source_bytes)
               : "memory");
}

/// Closes the group of copies started since the last commit.
inline void copy_async_commit() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}

/// Waits until at most kPending of this thread's newest groups are unfinished.
template <int kPending>
inline void copy_async_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}

}  // namespace heddle
