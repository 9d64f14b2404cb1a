#pragma once
// How the warps of a block share a tile of results.

#include "instruction/thread.cuh"

namespace heddle {

/// Into how many columns of warps a tile is cut: the one that gives the squarest warp tiles, hence
/// the least operand traffic, with whole 16 x 16 blocks for every warp; 0 if none does.
constexpr int warp_grid_columns(int rows, int columns, int warps) {
  int best = 0;
  int best_edge = rows + columns;
  for (int wide = 1; wide <= warps; ++wide) {
    const bool fits =
        warps % wide == 0 && rows * wide % (16 * warps) == 0 && columns % (16 * wide) == 0;
    const int edge = rows * wide / warps + columns / wide;
    if (fits && (best == 0 || edge < best_edge)) best = wide, best_edge = edge;
  }
  return best;
}
static_assert(warp_grid_columns(128, 128, 8) == 2, "32 x 64 for each warp");
static_assert(warp_grid_columns(128, 128, 4) == 2, "64 x 64");
static_assert(warp_grid_columns(128, 80, 8) == 1, "16 x 80: 80 is five blocks of 16");
static_assert(warp_grid_columns(64, 80, 8) == 0, "twenty blocks for eight warps");

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
