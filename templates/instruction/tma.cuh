#pragma once
// Copies of boxes of a tensor between global and shared memory by the TMA (sm_90+). One thread
// starts a copy for all.
//
// `at` has one coordinate per dimension of the map, in elements, the innermost (contiguous)
// dimension first: the first element of the box. Box and swizzle are the map's. What of a box
// overhangs the tensor is loaded as zeros, yet counts its bytes, and is not stored. The shared tile
// begins at a multiple of 128 bytes, of swizzle_alignment() where it is swizzled. at[0] is a
// multiple of 16 bytes, and no coordinate of a store is negative: an H200 takes either for an
// illegal instruction.

#include "instruction/bulk_copy.cuh"
#include "tensor_map.cuh"

namespace heddle {

/// Fetches the descriptor ahead of its first use.
inline void prefetch_tensor_map(const TensorMap& map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

/// How long L2 should keep what is loaded. Values are those that createpolicy makes for all of an
/// access.
enum class CachePolicy : unsigned long long {
  kNormal = 0x1000000000000000,
  kEvictFirst = 0x12f0000000000000,
  kEvictLast = 0x14f0000000000000,
};

/// Starts the load of a box; its bytes count on `barrier` as they land.
template <int kRank>
inline void load_tile(void* destination, const TensorMap& map, Barrier& barrier,
                      const int (&at)[kRank]) {
  static_assert(kRank >= 2 && kRank <= 5, "boxes of two to five dimensions");
  const unsigned to = shared_address(destination);
  const unsigned signal = shared_address(&barrier);
  if constexpr (kRank == 2) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%3, %4}], [%2];" ::"r"(to),
        "l"(&map), "r"(signal), "r"(at[0]), "r"(at[1])
        : "memory");
  } else if constexpr (kRank == 3) {
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%3, %4, %5}], [%2];" ::"r"(to),
        "l"(&map), "r"(signal), "r"(at[0]), "r"(at[1]), "r"(at[2])
        : "memory");
  } else if constexpr (kRank == 4) {
    asm volatile(
        "cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%3, %4, %5, %6}], [%2];" ::"r"(to),
        "l"(&map), "r"(signal), "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3])
        : "memory");
  } else {
    asm volatile(
        "cp.async.bulk.tensor.5d.shared::cluster.global.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%3, %4, %5, %6, %7}], [%2];" ::"r"(to),
        "l"(&map), "r"(signal), "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]), "r"(at[4])
        : "memory");
  }
}

/// The same with a wish for L2.
template <int kRank>
inline void load_tile(void* destination, const TensorMap& map, Barrier& barrier,
                      const int (&at)[kRank], CachePolicy policy) {
  static_assert(kRank >= 2 && kRank <= 5, "boxes of two to five dimensions");
  const unsigned to = shared_address(destination);
  const unsigned signal = shared_address(&barrier);
  if constexpr (kRank == 2) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
        ".L2::cache_hint [%0], [%1, {%4, %5}], [%2], %3;" ::"r"(to),
        "l"(&map), "r"(signal), "l"(policy), "r"(at[0]), "r"(at[1])
        : "memory");
  } else if constexpr (kRank == 3) {
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes"
        ".L2::cache_hint [%0], [%1, {%4, %5, %6}], [%2], %3;" ::"r"(to),
        "l"(&map), "r"(signal), "l"(policy), "r"(at[0]), "r"(at[1]), "r"(at[2])
        : "memory");
  } else if constexpr (kRank == 4) {
    asm volatile(
        "cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes"
        ".L2::cache_hint [%0], [%1, {%4, %5, %6, %7}], [%2], %3;" ::"r"(to),
        "l"(&map), "r"(signal), "l"(policy), "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3])
        : "memory");
  } else {
    asm volatile(
        "cp.async.bulk.tensor.5d.shared::cluster.global.mbarrier::complete_tx::bytes"
        ".L2::cache_hint [%0], [%1, {%4, %5, %6, %7, %8}], [%2], %3;" ::"r"(to),
        "l"(&map), "r"(signal), "l"(policy), "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]),
        "r"(at[4])
        : "memory");
  }
}

/// Starts the store of a box, part of this thread's current group. Writers have called
/// fence_async_shared() (instruction/fence.cuh) and met this thread at a barrier.
template <int kRank>
inline void store_tile(const TensorMap& map, const int (&at)[kRank], const void* source) {
  static_assert(kRank >= 2 && kRank <= 5, "boxes of two to five dimensions");
  const unsigned from = shared_address(source);
  if constexpr (kRank == 2) {
    asm volatile(
        "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%1, {%2, %3}], [%0];" ::"r"(from),
        "l"(&map), "r"(at[0]), "r"(at[1])
        : "memory");
  } else if constexpr (kRank == 3) {
    asm volatile(
        "cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%1, {%2, %3, %4}], [%0];" ::"r"(
            from),
        "l"(&map), "r"(at[0]), "r"(at[1]), "r"(at[2])
        : "memory");
  } else if constexpr (kRank == 4) {
    asm volatile(
        "cp.async.bulk.tensor.4d.global.shared::cta.bulk_group [%1, {%2, %3, %4, %5}], [%0];" ::"r"(
            from),
        "l"(&map), "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3])
        : "memory");
  } else {
    asm volatile(
        "cp.async.bulk.tensor.5d.global.shared::cta.bulk_group [%1, {%2, %3, %4, %5, %6}], "
        "[%0];" ::"r"(from),
        "l"(&map), "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]), "r"(at[4])
        : "memory");
  }
}

}  // namespace heddle
