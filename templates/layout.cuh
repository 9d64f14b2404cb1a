#pragma once
// Layout rules that the generator (legality, shared-memory sizes) and the kernels share. Plain
// constexpr arithmetic: no thread, no device.

namespace heddle {

/// Elements from one row of a shared-memory tile to the next: 16 bytes more than the row, so that
/// the pitch is an odd multiple of 16 bytes and the eight rows of an ldmatrix fall into different
/// banks.
constexpr int shared_tile_pitch(int columns) {
  return columns + 8;
}

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

/// Head dims that one chain of tensor-core sums covers; larger ones take two (part/fragment.cuh).
constexpr int kScoreChainDepth = 128;

/// fa1: at most four warps split the keys of a tile; more warps form further teams.
constexpr int fa1_key_warps(int warps) {
  return warps < 4 ? warps : 4;
}
/// fa1: query rows a team takes at a time.
constexpr int kFa1StepRows = 32;
/// fa1: places for partial outputs, so that one round is written while the one before is read.
constexpr int kFa1Exchanges = 2;

/// unfused: rows of a block's softmax for each of its warps.
constexpr int kSoftmaxRowsPerWarp = 4;

}  // namespace heddle
