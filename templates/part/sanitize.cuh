#pragma once
// NaN and Inf in values that a row may not see. Their probability is 0, but 0 * NaN would poison
// the row inside the mma. The kernels notice a result that is not finite, and redo the tile with
// zeros for the bad entries of the masked value blocks. The rows that do see one get it added once
// they are stored: there it takes a plain loop, where adding to fragments would be unrolled.

#include "instruction/thread.cuh"
#include "part/block_range.cuh"
#include "part/mask.cuh"
#include "part/shared_tile.cuh"
#include "part/stored_entry.cuh"

namespace heddle {

/// Replaces the non-finite entries of a tile by 0. Every thread of the block calls it, with a tile
/// that has arrived for all of them.
template <class Config, class Tile>
inline void clear_nonfinite(Tile& values) {
  using Element = typename Config::Element;
#pragma unroll 1
  for (int i = thread_index(); i < Tile::kRows * Tile::kColumns; i += Config::kThreads) {
    Element* entry = values.at(i / Tile::kColumns, i % Tile::kColumns);
    const Element element = *entry;
    if (!is_finite(element)) *entry = Element{};
  }
  sync_block();
}

/// Adds the non-finite values of the masked blocks of `range`, from global memory, to the stored
/// rows of the tile that see them. Entry (row, column) of the tile is stored at
/// row * row_stride + column from `stored` on. Every thread of the block calls it, after it has
/// stored its rows.
template <class Config, class Stored>
inline void add_nonfinite(Stored* stored, long long row_stride, const BlockRange& range,
                          const Mask<Config>& mask, const AttentionParameters& parameters) {
  using Element = typename Config::Element;
  const WorkItem& item = mask.item;
  const int first_query = item.query_tile * Config::kTileM;
  const int rows = minimum(mask.sequence.query_length - first_query, Config::kTileM);
  const int first_key = maximum(range.begin, range.first_masked) * Config::kTileN;
  const int end_key = minimum(range.end * Config::kTileN, mask.sequence.key_length);
  sync_block();
#pragma unroll 1
  for (int column = thread_index(); column < Config::kHeadDim; column += Config::kThreads) {
#pragma unroll 1
    for (int key = first_key; key < end_key; ++key) {
      // A copy first: of an element that is passed on at once g++ reports no read to host
      // execution.
      const Element element =
          tensor_row<const Element>(parameters.value, item.batch, item.kv_head, key)[column];
      const float value = to_float(element);
      if (is_finite(value)) continue;
#pragma unroll 1
      for (int row = 0; row < rows; ++row) {
        if (!mask.visible(first_query + row, key)) continue;
        add_to(stored[row * row_stride + column], value);
      }
    }
  }
}

}  // namespace heddle
