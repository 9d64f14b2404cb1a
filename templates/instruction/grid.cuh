#pragma once
// The grid as a whole.

namespace heddle {

/// Blocks of the launch.
inline int block_count() {
  return static_cast<int>(gridDim.x);
}

}  // namespace heddle
