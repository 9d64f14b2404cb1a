#pragma once
// Quantiser: what each tile adds to its columns' means, and between which numbers they lie. The
// sums are in a fixed order, so that the same tensor always gives the same mean.

#include "part/quantise_tile.cuh"

namespace heddle::quantise {

/// Combines a thread's rows, then those of its warp's lanes with the same columns, then the warps'.
template <class Config, class Combine>
inline void reduce_columns(QuantiseTile<Config>& tile, float* to, float neutral, Combine combine) {
  using Tile = QuantiseTile<Config>;
  constexpr int kWarps = Config::kThreads / kWarpSize;
  auto* parts = reinterpret_cast<float*>(shared_memory());
  float columns[Tile::kElements];
#pragma unroll
  for (int j = 0; j < Tile::kElements; ++j) {
    columns[j] = neutral;
#pragma unroll
    for (int i = 0; i < Tile::kRows; ++i) {
      // What is not finite counts for nothing: a key that a row may not see must not reach it.
      if (tile.exists(i) && is_finite(tile[i][j])) columns[j] = combine(columns[j], tile[i][j]);
    }
#pragma unroll
    for (int mask = Tile::kLanes; mask < kWarpSize; mask *= 2) {
      columns[j] = combine(columns[j], shuffle_xor(columns[j], mask));
    }
    if (lane() < Tile::kLanes && Tile::has_columns()) {
      parts[warp() * Config::kHeadDim + Tile::first_column() + j] = columns[j];
    }
  }
  sync_block();
  for (int column = thread_index(); column < Config::kHeadDim; column += Config::kThreads) {
    float total = parts[column];
    for (int i = 1; i < kWarps; ++i) total = combine(total, parts[i * Config::kHeadDim + column]);
    to[column] = total;
  }
  sync_block();  // before the next statistic takes the parts' place
}

template <class Config>
inline void columns(const QuantiseParameters& parameters) {
  static_assert(
      Config::kSharedBytes == Config::kThreads / kWarpSize * Config::kHeadDim * sizeof(float),
      "the host's shared-memory size is not the kernel's");
  QuantiseTile<Config> tile(parameters);
  tile.load(parameters);
  float* to = parameters.column_partials + static_cast<long long>(block_index()) *
                                               column_statistics(Config::kExtremes) *
                                               Config::kHeadDim;
  reduce_columns(tile, to, 0.0f, [](float a, float b) { return a + b; });
  if constexpr (Config::kExtremes) {
    reduce_columns(tile, to + Config::kHeadDim, infinity(),
                   [](float a, float b) { return -maximum(-a, -b); });
    reduce_columns(tile, to + 2 * Config::kHeadDim, -infinity(),
                   [](float a, float b) { return maximum(a, b); });
  }
}

}  // namespace heddle::quantise
