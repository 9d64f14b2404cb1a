#pragma once
// Quantiser: what each tile adds to its columns' means, and between which numbers they lie. The
// sums are in a fixed order, so that the same tensor always gives the same mean.

#include "part/quantise_tile.cuh"

namespace heddle::quantise {

/// Combines a thread's rows, then those of its warp's lanes with the same columns, then the warps'.
/// What is not finite counts for nothing: a key that a row may not see must not reach it.
template <class Config, class Combine>
inline void reduce_columns(const QuantiseTile<Config>& tile, float* to, float neutral,
                           Combine combine) {
  using Tile = QuantiseTile<Config>;
  constexpr int kWarps = Config::kThreads / kWarpSize;
  QuantiserNumbers columns;
#pragma unroll
  for (float& column : columns) column = neutral;
#pragma unroll
  for (int i = 0; i < Tile::kRows; ++i) {
    QuantiserNumbers numbers;
    tile.read(i, 0, numbers);
#pragma unroll
    for (int j = 0; j < kQuantiserElements; ++j) {
      const bool counts = tile.exists(i) && is_finite(numbers[j]);
      columns[j] = combine(columns[j], counts ? numbers[j] : neutral);
    }
  }
  auto* parts = reinterpret_cast<float*>(shared_memory());
#pragma unroll
  for (int j = 0; j < kQuantiserElements; ++j) {
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
  static_assert(!Config::kRotate && !Config::kTransposedValues,
                "a thread has the same eight columns of all its rows, and so have lanes");
  static_assert(
      Config::kSharedBytes == Config::kThreads / kWarpSize * Config::kHeadDim * sizeof(float),
      "the host's shared-memory size is not the kernel's");
  const QuantiseTile<Config> tile(parameters, block_index());
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
