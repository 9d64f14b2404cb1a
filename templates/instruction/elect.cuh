#pragma once
// One thread or one value for a whole warp.

#include "instruction/thread.cuh"

namespace heddle {

/// True in exactly one lane of the warp, the same each time. All 32 lanes call it together. The
/// compiler knows that one lane is left: single-thread instructions need no loop over lanes.
inline bool elect_one() {
  unsigned elected;
  asm volatile(
      "{\n"
      ".reg .pred elected;\n"
      "elect.sync _|elected, 0xffffffff;\n"
      "selp.b32 %0, 1, 0, elected;\n"
      "}"
      : "=r"(elected));
  return elected != 0;
}

/// Lane 0's `value`. Of a value that is equal in all lanes, this tells the compiler so: what
/// follows from it (descriptors, branches) can live in uniform registers.
inline int uniform(int value) {
  return __shfl_sync(kFullWarp, value, 0);
}

}  // namespace heddle
