#pragma once
// The host twin of templates/instruction/tma.cuh.

#include "instruction/bulk_copy.cuh"
#include "tensor_map.cuh"

namespace heddle {

inline void prefetch_tensor_map(const TensorMap&) {}

enum class CachePolicy : unsigned long long {
  kNormal = 0x1000000000000000,
  kEvictFirst = 0x12f0000000000000,
  kEvictLast = 0x14f0000000000000,
};

namespace host {
template <int kRank>
HEDDLE_TWIN BulkCopy tile_copy(void* shared, const TensorMap& map, const int (&at)[kRank]) {
  static_assert(kRank >= 2 && kRank <= 5, "boxes of two to five dimensions");
  BulkCopy copy{};
  copy.shared = shared;
  copy.map = &map;
  copy.rank = kRank;
  for (int i = 0; i < kRank; ++i) copy.at[i] = at[i];
  return copy;
}
}  // namespace host

template <int kRank>
HEDDLE_TWIN void load_tile(void* destination, const TensorMap& map, Barrier& barrier,
                           const int (&at)[kRank]) {
  host::BulkCopy copy = host::tile_copy(destination, map, at);
  copy.barrier = &barrier;
  host::bulk_copy(copy);
}
template <int kRank>
HEDDLE_TWIN void load_tile(void* destination, const TensorMap& map, Barrier& barrier,
                           const int (&at)[kRank], CachePolicy) {
  load_tile(destination, map, barrier, at);
}

template <int kRank>
HEDDLE_TWIN void store_tile(const TensorMap& map, const int (&at)[kRank], const void* source) {
  host::BulkCopy copy = host::tile_copy(const_cast<void*>(source), map, at);
  copy.store = true;
  host::bulk_copy(copy);
}

}  // namespace heddle
