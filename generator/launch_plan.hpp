#pragma once
// Geometry and workspace of one launch: pure arithmetic, no allocation, cheap enough for the hot
// path.

#include <array>
#include <cstddef>

#include "generator/architecture.hpp"
#include "generator/kernel_part.hpp"
#include "generator/problem.hpp"
#include "templates/parameters.cuh"

namespace heddle {

struct PartLaunch {
  KernelPart part{};
  unsigned grid = 0;  ///< blocks; all grids are one-dimensional
  int threads = 0;
  int shared_bytes = 0;
};

/// Device pointers of a call. log_sum_exp and workspace may be null where not wanted or needed, and
/// what comes with 8-bit inputs where it is 1 or 0.
struct TensorPointers {
  void* query = nullptr;
  void* key = nullptr;
  void* value = nullptr;
  void* output = nullptr;
  float* log_sum_exp = nullptr;
  void* workspace = nullptr;
  const float* query_descale = nullptr;
  const float* key_descale = nullptr;
  const float* value_descale = nullptr;
  const float* value_mean = nullptr;
  const float* log_sum_exp_shift = nullptr;
};

/// What the tensor maps of a kernel that loads by TMA depend on beside the parameters.
struct MapBoxes {
  int query_rows = 0;  ///< 0: no maps
  int key_rows = 0;
  int head_dim = 0;
  DataType dtype = DataType::kBf16;
  bool stores = false;   ///< O too has a map
  int packed_heads = 0;  ///< of a box of queries; 0: a box is of one head
  ValueLayout value_layout = ValueLayout::kRows;
};

struct LaunchPlan {
  std::array<PartLaunch, kMaxParts> launches{};
  int count = 0;  ///< 0 for an empty problem
  int num_splits = 1;
  int split_tiles = 0;
  int packed_heads = 1;  ///< query heads that share a tile's rows
  int tile_queries = 0;  ///< of each head in a tile
  int query_tiles = 0;   ///< that the queries of a head are cut into
  MapBoxes maps;
  bool draws_tiles = false;         ///< blocks want AttentionParameters::tile_counter
  std::size_t workspace_bytes = 0;  ///< exact; 256-byte aligned base expected
};

/// Throws kInvalidArgument where a grid would exceed 2^31 - 1 blocks.
LaunchPlan plan_launch(const Problem& problem, const KernelConfig& config,
                       const DeviceLimits& limits);

/// The parameter block of a planned launch (the same for all its parts).
AttentionParameters fill_parameters(const Problem& problem, const KernelConfig& config,
                                    const LaunchPlan& plan, const TensorPointers& pointers);

/// Largest of 16, 8, 4, 2 that divides every address and every stride in bytes; 0 if not even 2.
int alignment_class(const Problem& problem, const TensorPointers& pointers);

}  // namespace heddle
