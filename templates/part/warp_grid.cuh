#pragma once
// How the warps of a block share a tile of results.

#include "instruction/thread.cuh"
#include "layout.cuh"

namespace heddle {

/// Warp w owns kRows x kColumns results from (first_row(), first_column()) on.
template <int kTileRows, int kTileColumns, int kWarps>
struct WarpGrid {
  static constexpr int kWide = warp_grid_columns(kTileRows, kTileColumns, kWarps);
  static_assert(kWide > 0, "no grid of warps cuts the tile into whole 16 x 16 blocks");
  static constexpr int kRows = kTileRows / (kWarps / kWide);
  static constexpr int kColumns = kTileColumns / kWide;

  static int first_row() { return warp() / kWide * kRows; }
  static int first_column() { return warp() % kWide * kColumns; }
};

}  // namespace heddle
