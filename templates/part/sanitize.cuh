#pragma once
// NaN and Inf in values that a row may not see. Their probability is 0, but 0 * NaN would poison
// the row inside the mma. The kernels notice a result that is not finite, and redo the tile with
// each masked value block sanitised first: rows that see a bad entry get it added, then it becomes
// 0.

#include "instruction/thread.cuh"
#include "part/mask.cuh"
#include "part/shared_tile.cuh"

namespace heddle {

/// Adds every non-finite value entry to the outputs of the rows that see it.
template <class Config, class Tile, int kRowTiles, int kOutputTiles>
inline void add_visible_nonfinite(Accumulator<kRowTiles, kOutputTiles>& output, const Tile& values,
                                  const Mask<Config>& mask, int first_query, int first_key) {
  using Element = typename Config::Element;
#pragma unroll 1
  for (int key = 0; key < Tile::kRows; ++key) {
    bool visible[2 * kRowTiles];
#pragma unroll
    for (int row = 0; row < 2 * kRowTiles; ++row) {
      visible[row] = mask.visible(first_query + fragment_row(row), first_key + key);
    }
#pragma unroll
    for (int i = 0; i < 2 * kOutputTiles; ++i) {
      const Element value = *values.at(key, 8 * (i / 2) + i % 2 + 2 * (lane() % 4));
      if (is_finite(value)) continue;
#pragma unroll
      for (int row = 0; row < 2 * kRowTiles; ++row) {
        float& entry = output.value[row / 2][i / 2][2 * (row % 2) + i % 2];
        if (visible[row]) entry += to_float(value);
      }
    }
  }
}

/// Replaces the non-finite entries of a tile by 0, with all threads of the block.
template <class Config, class Tile>
inline void clear_nonfinite(Tile& values) {
  using Element = typename Config::Element;
#pragma unroll 1
  for (int i = thread_index(); i < Tile::kRows * Tile::kColumns; i += Config::kThreads) {
    Element* entry = values.at(i / Tile::kColumns, i % Tile::kColumns);
    if (!is_finite(*entry)) *entry = Element{};
  }
}

/// Every thread of the block calls it, with a value tile that has arrived for all of them.
template <class Config, class Tile, int kRowTiles, int kOutputTiles>
inline void sanitize_values(Accumulator<kRowTiles, kOutputTiles>& output, Tile& values,
                            const Mask<Config>& mask, int first_query, int first_key) {
  add_visible_nonfinite<Config>(output, values, mask, first_query, first_key);
  sync_block();
  clear_nonfinite<Config>(values);
  sync_block();
}

}  // namespace heddle
