#pragma once
// The host twin of templates/instruction/fence.cuh.

#include "host_calls.cuh"

namespace heddle {

HEDDLE_TWIN void fence_async_shared() {
  host::fence(host::FenceKind::kAsyncShared);
}
HEDDLE_TWIN void fence_barrier_init() {
  host::fence(host::FenceKind::kBarrierInit);
}

// Ordinary accesses take effect at once here, and the engine's atomics order them between blocks.

inline void fence_block() {}
inline void fence_device() {}

}  // namespace heddle
