#pragma once

namespace heddle {

/// Suspends the thread for about `nanoseconds` (at most a million), for loops that poll.
inline void sleep_nanoseconds(unsigned nanoseconds) {
  asm volatile("nanosleep.u32 %0;" ::"r"(nanoseconds));
}

}  // namespace heddle
