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

/// Depth of Q K^T that one chain of tensor-core sums covers, for a padded head dim. The tensor core
/// truncates at each 16 of depth, always towards zero; chains are added in fp32, which rounds to
/// nearest. The worst error of the log-sum-exp in 3000 rows of 64 rising fp16 logits, over its
/// bound and with what log_sum_exp() puts back (tests/host/log_sum_exp_bound_test.cpp prints it):
///
///   head dim          64    96   128   192   256
///   one chain       0.58  0.53  0.50
///   chains of 128                           0.77
///   chains of 96                      0.72
///   chains of 64                      0.62  0.47
///   chains of 48          0.43
///   chains of 32                      0.45  0.40
///
/// Fewer keys and more rows come closer (docs/performance.md): where registers allow it, chains
/// are short. Up to 64 and from 112 to 128 a second one costs registers
/// that the fastest tiles do not have (they spill).
constexpr int score_chain_depth(int depth) {
  if (depth > 128) return 32;
  return depth > 64 && depth <= 96 ? 48 : depth;
}
constexpr int score_chains(int depth) {
  return (depth + score_chain_depth(depth) - 1) / score_chain_depth(depth);
}

/// What is put back for truncation, as a share of a logit. A chain loses 0.08 to 0.4 * 2^-23 of a
/// large sum at each step on average (tests/host/truncation_test.cpp), and nothing where the sums
/// are exact. This much, 1.5 * 2^-23 in the deepest chain (of 128), leaves both within the
/// contract: four units in the last place of a logit are 2 * 2^-23 of it at least, and rounding
/// the result costs a quarter to a half, the more where the logarithm carries it past a power of
/// two. For small logits, whose bound is wider, log_sum_exp() adds up to two thirds to it.
constexpr float chain_truncation(int chain) {
  return static_cast<float>(chain / 16) * 0x1.8p-26f;
}
/// The same of the mma.sync families, by their chains.
constexpr float score_truncation(int depth) {
  const int chain = score_chain_depth(depth);
  return chain_truncation(chain < depth ? chain : depth);
}

static_assert(score_chains(64) == 1 && score_chains(128) == 1);
static_assert(score_chains(96) == 2 && score_chains(80) == 2);
static_assert(score_chains(256) == 8);

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
