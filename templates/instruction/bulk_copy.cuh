#pragma once
// Asynchronous copies of whole runs of bytes, and the groups in which a thread's stores to global
// memory are waited for (sm_90+). One thread starts a copy for all. Addresses and sizes are
// multiples of 16.

#include "instruction/mbarrier.cuh"

namespace heddle {

/// Starts a copy from global to shared memory; its bytes count on `barrier` as they land.
inline void load_bytes(void* destination, const void* source, int bytes, Barrier& barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(shared_address(destination)),
      "l"(__cvta_generic_to_global(source)), "r"(bytes), "r"(shared_address(&barrier))
      : "memory");
}

/// Starts a copy from shared to global memory, part of this thread's current group.
inline void store_bytes(void* destination, const void* source, int bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(
                   __cvta_generic_to_global(destination)),
               "r"(shared_address(source)), "r"(bytes)
               : "memory");
}

/// Closes the group of stores that this thread started since the last commit.
inline void store_commit() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

/// Until at most kPending of this thread's newest groups have shared memory left to read: the
/// others' may be written again.
template <int kPending>
inline void store_wait_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kPending) : "memory");
}

/// Until at most kPending of this thread's newest groups are unfinished. Shared memory lives until
/// the block ends: a thread that stores waits before its kernel returns.
template <int kPending>
inline void store_wait() {
  asm volatile("cp.async.bulk.wait_group %0;" ::"n"(kPending) : "memory");
}

}  // namespace heddle
