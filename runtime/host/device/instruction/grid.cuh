#pragma once
// The host twin of templates/instruction/grid.cuh.

#include "host_calls.cuh"

namespace heddle {

inline int block_count() {
  return host::own_block_count();
}

}  // namespace heddle
