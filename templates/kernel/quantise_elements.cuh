#pragma once
// Quantiser: a tile's numbers, less their means, rotated, over their scale, as e4m3. The scales of
// tiles and of rows are found, and written, here; those of heads and tensors are there already.

#include "part/quantised_store.cuh"
#include "part/row_preparation.cuh"

namespace heddle::quantise {

/// Each row over a scale of its own, or over one that is known.
template <class Config, class Store>
inline void round_rows(const QuantiseParameters& parameters, const QuantiseTile<Config>& tile,
                       Store& output) {
  using Tile = QuantiseTile<Config>;
  constexpr float kFactor = RowPreparation<Config>::kFactor;
  const RowPreparation<Config> preparation(parameters, tile);
  const long long head = tile.flat_head();
  float scale = 1.0f;
  if constexpr (Config::kScaleRows == 0) {
    scale = parameters.scales[Config::kScalePerHead ? head : 0];
    sync_warp();  // asked for with the tile: ptxas would move it behind the rotation
  }
#pragma unroll
  for (int i = 0; i < Tile::kRows; ++i) {
    typename Tile::Numbers numbers;
    preparation.apply(tile, i, numbers);
    if constexpr (Config::kScaleRows == 1) {
      static_assert(!Config::kTransposedValues, "a row lies in neighbouring lanes");
      scale = scale_of(lane_maximum<Tile::kLanes>(largest_magnitude(numbers) * kFactor));
      if (tile.first_column() == 0 && tile.exists(i)) {
        parameters.scales[head * parameters.rows + tile.row(i)] = scale;
      }
    }
    output.put(tile, i, numbers, kFactor / scale);
  }
}

/// All rows over the tile's scale: until that is known, their numbers stay in registers; or, where
/// that is little work, they are prepared again.
template <class Config, class Store>
inline void round_tile(const QuantiseParameters& parameters, const QuantiseTile<Config>& tile,
                       Store& output) {
  using Tile = QuantiseTile<Config>;
  static_assert(Config::kTileRows == Config::kScaleRows, "a tile is what shares a scale");
  constexpr float kFactor = RowPreparation<Config>::kFactor;
  constexpr bool kStay = Config::kRotate;
  const RowPreparation<Config> preparation(parameters, tile);
  typename Tile::Numbers numbers[kStay ? Tile::kRows : 1];
  float largest = 0.0f;
#pragma unroll
  for (int i = 0; i < Tile::kRows; ++i) {
    preparation.apply(tile, i, numbers[kStay ? i : 0]);
    largest = maximum(largest, largest_magnitude(numbers[kStay ? i : 0]));
  }
  const float scale = scale_of(block_maximum<Config>(largest * kFactor));
  if (thread_index() == 0) {
    const long long head = tile.flat_head();
    parameters.scales[head * parameters.tiles + tile.tile()] = scale;
  }
#pragma unroll
  for (int i = 0; i < Tile::kRows; ++i) {
    if constexpr (!kStay) preparation.apply(tile, i, numbers[0]);
    output.put(tile, i, numbers[kStay ? i : 0], kFactor / scale);
  }
}

/// What each query's log-sum-exp lacks because K's mean was taken off: scale * q·mean.
template <class Config>
inline void store_shifts(const QuantiseParameters& parameters, const QuantiseTile<Config>& tile) {
  const long long kv_head = static_cast<long long>(tile.sequence()) * parameters.kv_heads +
                            tile.head() / (parameters.heads / parameters.kv_heads);
  const long long first = static_cast<long long>(tile.flat_head()) * parameters.rows;
#pragma unroll
  for (int i = 0; i < QuantiseTile<Config>::kRows; ++i) {
    float product = 0.0f;
#pragma unroll
    for (int chunk = 0; chunk < QuantiseTile<Config>::kChunks; ++chunk) {
      QuantiserNumbers numbers;
      QuantiserNumbers means = {};
      tile.read(i, chunk, numbers);
      tile.load_columns(means, parameters.key_means + kv_head * Config::kHeadDim, chunk);
#pragma unroll
      for (int j = 0; j < kQuantiserElements; ++j) {
        product = multiply_add(numbers[j], means[j], product);
      }
    }
    product = lane_sum<QuantiseTile<Config>::kLanes>(product);
    if (tile.first_column() == 0 && tile.exists(i)) {
      parameters.log_sum_exp_shift[first + tile.row(i)] = parameters.scale * product;
    }
  }
}

template <class Config, class Store>
inline void store_elements(const QuantiseParameters& parameters) {
  static_assert(Config::kSharedBytes >= Config::kThreads / kWarpSize * sizeof(float) &&
                    Config::kSharedBytes >= Store::kSharedBytes,
                "the host's shared-memory size is not the kernel's");
  // From the last tile to the first: what the pass before read last is the likeliest to be in L2.
  const int blocks = parameters.batch * parameters.heads * parameters.tiles;
  const QuantiseTile<Config> tile(parameters, blocks - 1 - block_index());
  Store output(parameters, tile);
  if constexpr (Config::kShift) store_shifts(parameters, tile);
  if constexpr (Config::kScaleRows > 1) {
    round_tile(parameters, tile, output);
  } else {
    round_rows(parameters, tile, output);
  }
  output.finish(parameters, tile);
}

template <class Config>
inline void elements(const QuantiseParameters& parameters) {
  if constexpr (Config::kTransposedValues) {
    store_elements<Config, TransposedStore<Config>>(parameters);
  } else {
    store_elements<Config, RowStore<Config>>(parameters);
  }
}

}  // namespace heddle::quantise
