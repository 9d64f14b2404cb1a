#pragma once
// The second half of named barriers; the first is sync_team() in instruction/thread.cuh.

#include "instruction/thread.cuh"

namespace heddle {

/// Arrives at a barrier of `threads` threads without waiting: those that call sync_team(barrier,
/// threads) go on once arrivals and waiters together are that many. Whole warps call it; `threads`
/// counts both kinds. What this thread wrote before is visible to the waiters.
inline void arrive_team(int barrier, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

}  // namespace heddle
