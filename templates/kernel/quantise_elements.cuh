#pragma once
// Quantiser: a tile's numbers, less their means, rotated, over their scale, as e4m3. The scales of
// tiles and of rows are found, and written, here; those of heads and tensors are there already.

#include "part/quantised_store.cuh"

namespace heddle::quantise {

/// Each row over a scale of its own, or over one that is known.
template <class Config, class Store>
inline void round_rows(const QuantiseParameters& parameters, const QuantiseTile<Config>& tile) {
  const RowPreparation<Config> preparation(parameters, tile);
  const long long head = tile.flat_head();
  float scale = 1.0f;
  if constexpr (Config::kScaleRows == 0) {
    scale = parameters.scales[Config::kScalePerHead ? head : 0];
  }
#pragma unroll
  for (int i = 0; i < kQuantiserRowsPerThread; ++i) {
    QuantiserNumbers numbers;
    preparation.apply(tile, i, numbers);
    if constexpr (Config::kScaleRows == 1) {
      scale = scale_of(lane_maximum<QuantiseTile<Config>::kLanes>(largest_magnitude(numbers)));
      if (tile.first_column() == 0 && tile.exists(i)) {
        parameters.scales[head * parameters.rows + tile.row(i)] = scale;
      }
    }
    Store::put(parameters, tile, i, numbers, 1.0f / scale);
  }
}

/// All rows over the tile's scale: their numbers stay in registers until that is known.
template <class Config, class Store>
inline void round_tile(const QuantiseParameters& parameters, const QuantiseTile<Config>& tile) {
  const RowPreparation<Config> preparation(parameters, tile);
  QuantiserNumbers numbers[kQuantiserRowsPerThread];
  float largest = 0.0f;
#pragma unroll
  for (int i = 0; i < kQuantiserRowsPerThread; ++i) {
    preparation.apply(tile, i, numbers[i]);
    largest = maximum(largest, largest_magnitude(numbers[i]));
  }
  const float scale = scale_of(block_maximum<Config>(largest));
  if (thread_index() == 0) {
    const long long head = tile.flat_head();
    parameters.scales[head * parameters.tiles + tile.tile()] = scale;
  }
#pragma unroll
  for (int i = 0; i < kQuantiserRowsPerThread; ++i) {
    Store::put(parameters, tile, i, numbers[i], 1.0f / scale);
  }
}

/// What each query's log-sum-exp lacks because K's mean was taken off: scale * q·mean.
template <class Config>
inline void store_shifts(const QuantiseParameters& parameters, const QuantiseTile<Config>& tile) {
  const int batch = tile.flat_head() / parameters.heads;
  const int head = tile.flat_head() % parameters.heads;
  const long long kv_head = static_cast<long long>(batch) * parameters.kv_heads +
                            head / (parameters.heads / parameters.kv_heads);
  QuantiserNumbers means = {};
  tile.load_columns(means, parameters.key_means + kv_head * Config::kHeadDim);
  const long long first = static_cast<long long>(tile.flat_head()) * parameters.rows;
#pragma unroll
  for (int i = 0; i < kQuantiserRowsPerThread; ++i) {
    QuantiserNumbers numbers;
    tile.read(i, numbers);
    float product = 0.0f;
#pragma unroll
    for (int j = 0; j < kQuantiserElements; ++j) {
      product = multiply_add(numbers[j], means[j], product);
    }
    product = lane_sum<QuantiseTile<Config>::kLanes>(product);
    if (tile.first_column() == 0 && tile.exists(i)) {
      parameters.log_sum_exp_shift[first + tile.row(i)] = parameters.scale * product;
    }
  }
}

template <class Config, class Store>
inline void store_elements(const QuantiseParameters& parameters, Store) {
  static_assert(Config::kSharedBytes >= Config::kThreads / kWarpSize * sizeof(float) &&
                    Config::kSharedBytes >= Store::kSharedBytes,
                "the host's shared-memory size is not the kernel's");
  const QuantiseTile<Config> tile(parameters);
  if constexpr (Config::kShift) store_shifts(parameters, tile);
  if constexpr (Config::kScaleRows > 1) {
    round_tile<Config, Store>(parameters, tile);
  } else {
    round_rows<Config, Store>(parameters, tile);
  }
  Store::finish(parameters, tile);
}

template <class Config>
inline void elements(const QuantiseParameters& parameters) {
  if constexpr (Config::kTransposedValues) {
    store_elements<Config>(parameters, TransposedStore<Config>{});
  } else {
    store_elements<Config>(parameters, RowStore<Config>{});
  }
}

}  // namespace heddle::quantise
