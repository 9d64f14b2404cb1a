#pragma once
// How a problem is cut into the work of blocks: query tiles, and splits of the keys.

#include "generator/architecture.hpp"
#include "generator/kernel_config.hpp"
#include "generator/problem.hpp"

namespace heddle {

/// How query tiles cover the heads and queries of a problem that is not empty.
struct QueryCut {
  int packed_heads = 1;  ///< query heads that share a tile's rows
  int tile_queries = 0;  ///< of each head in a tile
  int query_tiles = 0;   ///< that the queries of a head are cut into
  long long tiles = 0;   ///< of all heads of all sequences
};
QueryCut cut_queries(const Problem& problem, const KernelConfig& config);

/// Split i of num_splits owns key tiles [i * split_tiles, (i + 1) * split_tiles).
struct KeySplit {
  int num_splits = 1;
  int split_tiles = 0;
};
/// For so many query tiles. A config without split_kv does not split.
KeySplit split_keys(const Problem& problem, const KernelConfig& config, long long query_tiles,
                    const DeviceLimits& limits);

}  // namespace heddle
