#pragma once
// Quantiser: a tile's numbers, less their means, rotated, over their scale, as e4m3.

#include "part/quantised_store.cuh"

namespace heddle::quantise {

/// The scale of each of a thread's rows. Those of a tile or a row are found, and written, here.
template <class Config>
inline void find_scales(const QuantiseParameters& parameters, QuantiseTile<Config>& tile,
                        float (&scales)[kQuantiserRowsPerThread]) {
  const long long head = tile.flat_head();
  if constexpr (Config::kScaleRows == 1) {
#pragma unroll
    for (int i = 0; i < tile.kRows; ++i) {
      scales[i] = scale_of(tile.row_magnitude(i));
      if (tile.first_column() == 0 && tile.exists(i)) {
        parameters.scales[head * parameters.rows + tile.row(i)] = scales[i];
      }
    }
    return;
  }
  float scale;
  if constexpr (Config::kScaleRows > 1) {
    float largest = 0.0f;
#pragma unroll
    for (int i = 0; i < tile.kRows; ++i) largest = maximum(largest, tile.row_magnitude(i));
    scale = scale_of(block_maximum<Config>(largest));
    if (thread_index() == 0) parameters.scales[head * parameters.tiles + tile.tile()] = scale;
  } else {
    scale = parameters.scales[Config::kScalePerHead ? head : 0];
  }
#pragma unroll
  for (float& entry : scales) entry = scale;
}

/// What each query's log-sum-exp lacks because K's mean was taken off: scale * q·mean.
template <class Config>
inline void store_shifts(const QuantiseParameters& parameters, QuantiseTile<Config>& tile) {
  const int batch = tile.flat_head() / parameters.heads;
  const int head = tile.flat_head() % parameters.heads;
  const long long kv_head = static_cast<long long>(batch) * parameters.kv_heads +
                            head / (parameters.heads / parameters.kv_heads);
  float means[kQuantiserElements] = {};
  tile.load_columns(means, parameters.key_means + kv_head * Config::kHeadDim);
  const long long first = static_cast<long long>(tile.flat_head()) * parameters.rows;
#pragma unroll
  for (int i = 0; i < tile.kRows; ++i) {
    const float product = tile.dot(i, means);
    if (tile.first_column() == 0 && tile.exists(i)) {
      parameters.log_sum_exp_shift[first + tile.row(i)] = parameters.scale * product;
    }
  }
}

template <class Config, class Store>
inline void store_tile(const QuantiseParameters& parameters, QuantiseTile<Config>& tile, Store) {
  static_assert(Config::kSharedBytes >= Config::kThreads / kWarpSize * sizeof(float) &&
                    Config::kSharedBytes >= Store::kSharedBytes,
                "the host's shared-memory size is not the kernel's");
  float scales[kQuantiserRowsPerThread];
  find_scales(parameters, tile, scales);
#pragma unroll
  for (int i = 0; i < tile.kRows; ++i) Store::put(parameters, tile, i, 1.0f / scales[i]);
  Store::finish(parameters, tile);
}

template <class Config>
inline void elements(const QuantiseParameters& parameters) {
  QuantiseTile<Config> tile(parameters);
  tile.load(parameters);
  if constexpr (Config::kShift) store_shifts(parameters, tile);
  prepare(tile, parameters);
  if constexpr (Config::kTransposedValues) {
    store_tile(parameters, tile, TransposedStore<Config>{});
  } else {
    store_tile(parameters, tile, RowStore<Config>{});
  }
}

}  // namespace heddle::quantise
