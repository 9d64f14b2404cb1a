#pragma once
// Who this thread is, and how it meets the others of its warp and block.

namespace heddle {

constexpr int kWarpSize = 32;
constexpr unsigned kFullWarp = 0xffffffffu;

inline int thread_index() {
  return static_cast<int>(threadIdx.x);
}
/// Volatile, so that what follows from it can be computed anew where it is needed: kept across a
/// main loop it would cost registers.
inline int block_index() {
  int index;
  asm volatile("mov.u32 %0, %%ctaid.x;" : "=r"(index));
  return index;
}
// Unsigned arithmetic: a division by a power of two is then one shift, and addresses fold.
inline int lane() {
  return static_cast<int>(threadIdx.x % 32u);
}
inline int warp() {
  return static_cast<int>(threadIdx.x / 32u);
}

inline void sync_block() {
  __syncthreads();
}
inline void sync_warp() {
  __syncwarp();
}

/// A barrier of `threads` threads of the block: whole warps that name the same `barrier` (1 to 15;
/// 0 is the block's own).
inline void sync_team(int barrier, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

/// Barriers that also combine a predicate over the block.
inline bool sync_block_any(bool predicate) {
  return __syncthreads_or(predicate) != 0;
}

inline bool warp_any(bool predicate) {
  return __any_sync(kFullWarp, predicate) != 0;
}
inline bool warp_all(bool predicate) {
  return __all_sync(kFullWarp, predicate) != 0;
}

/// The value held by the lane whose index differs by `mask` (exclusive or).
inline float shuffle_xor(float value, int mask) {
  return __shfl_xor_sync(kFullWarp, value, mask);
}
inline double shuffle_xor(double value, int mask) {
  return __shfl_xor_sync(kFullWarp, value, mask);
}
inline unsigned shuffle_xor(unsigned value, int mask) {
  return __shfl_xor_sync(kFullWarp, value, mask);
}

/// The value held by lane `source`.
inline float shuffle(float value, int source) {
  return __shfl_sync(kFullWarp, value, source);
}
inline unsigned shuffle(unsigned value, int source) {
  return __shfl_sync(kFullWarp, value, source);
}

/// The block's dynamic shared memory, 1024-byte aligned.
inline unsigned char* shared_memory() {
  extern __shared__ __align__(1024) unsigned char dynamic_shared_memory[];
  return dynamic_shared_memory;
}

}  // namespace heddle
