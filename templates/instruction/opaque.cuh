#pragma once
// A wall for the optimiser.

namespace heddle {

/// Returns `value`, but the compiler does not know that. What is computed from the result stays
/// where it is written: hoisted out of a loop, a table of row offsets would occupy registers all
/// through the loop.
inline long long opaque(long long value) {
  asm volatile("" : "+l"(value));
  return value;
}

}  // namespace heddle
