#pragma once
// Fences: what this thread did before is seen before what it does after. They order the calling
// thread alone; a barrier carries the order to other threads.

namespace heddle {

/// Between ordinary accesses to shared memory and those of TMA and wgmma, which go another way.
/// Every thread that wrote calls this, before the barrier after which the copy or product starts.
inline void fence_async_shared() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/// Between the initialisation of barriers and the copies that complete on them.
inline void fence_barrier_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

/// Towards threads of this block.
inline void fence_block() {
  asm volatile("fence.acq_rel.cta;" ::: "memory");
}

/// Towards every thread of the device.
inline void fence_device() {
  asm volatile("fence.acq_rel.gpu;" ::: "memory");
}

}  // namespace heddle
