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
  const int lane_column = 2 * (lane() % 4);
#pragma unroll 1
  for (int key = 0; key < Tile::kRows; ++key) {
#pragma unroll
    for (int i = 0; i < 4 * kOutputTiles; ++i) {
      const int column_tile = i / 4;
      const int element = i % 2;
      const int half = i / 2 % 2;
      const Element value = *values.at(key, 8 * column_tile + lane_column + element);
      if (is_finite(value)) continue;
#pragma unroll
      for (int r = 0; r < kRowTiles; ++r) {
        const int query = first_query + 16 * r + 8 * half + lane() / 4;
        if (mask.visible(query, first_key + key)) {
          output.value[r][column_tile][2 * half + element] += to_float(value);
        }
      }
    }
  }
}

/// Replaces the non-finite entries of a tile by 0, with all threads of the block.
template <class Config, class Tile>
inline void clear_nonfinite(Tile& values) {
  using Element = typename Config::Element;
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
