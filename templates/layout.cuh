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

/// Depth of Q K^T that one chain of tensor-core sums covers, for a padded head dim and elements of
/// `significand_bits` (11 of fp16, 8 of bf16). The tensor core truncates at each 16 of depth,
/// always towards zero; chains are added in fp32, which rounds to nearest. A model of it that gives
/// an H200's log-sum-exp to the bit or the next one predicts, as the worst error over its bound
/// where logits rise along the keys, before score_truncation() is put back:
///
///   head dim         64    96   128   192   256
///   one chain      0.90  1.15  1.21  2.46  2.18
///   chains of 64         0.82  0.83  1.11  0.98
///   chains of 48         0.64        0.98  0.87
///   chains of 32   0.70  0.52  0.54  0.86  0.78
///
/// The softmax may add 0.15. With chains of 32 one of 6356 runs, of fp16, whose products have more
/// bits to lose, exceeded the bound by 3 %: hence 16 there. Up to 64 and from 112 to 128 a second
/// chain costs registers that the fastest tiles do not have (they spill), so one has to do.
constexpr int score_chain_depth(int depth, int significand_bits) {
  if (depth > 128) return significand_bits > 8 ? 16 : 32;
  return depth > 64 && depth <= 96 ? 48 : depth;
}
constexpr int score_chains(int depth, int significand_bits) {
  const int chain = score_chain_depth(depth, significand_bits);
  return (depth + chain - 1) / chain;
}

/// What truncation takes from a large dot product, relative to it and on average. Each of the n
/// steps of a chain cuts the sum to 24 bits: half a unit (0.36 * 2^-23 of the sum so far, averaged
/// over mantissas), (n + 1) / 2 times that where the sum grows evenly. Before, it cuts its terms to
/// 25 bits below the largest one's exponent, which fp16's products reach: with them it is 0.21 to
/// 0.30 * 2^-23 a step (tests/host/truncation_test.cpp), of which no more is put back than the
/// contract allows where a sum is exact. Chains are added without bias. A row's largest logits,
/// which make its log-sum-exp, are such products.
constexpr float chain_truncation(int chain, int significand_bits) {
  const float steps = static_cast<float>(chain) / 16.0f;
  const float units = significand_bits > 8 ? 0.20f * steps : 0.18f * (steps + 1.0f);
  return units * 0x1p-23f;
}
/// The same of the mma.sync families, by their chains.
constexpr float score_truncation(int depth, int significand_bits) {
  const int chain = score_chain_depth(depth, significand_bits);
  return chain_truncation(chain < depth ? chain : depth, significand_bits);
}

static_assert(score_chains(64, 11) == 1 && score_chains(128, 8) == 1);
static_assert(score_chains(96, 8) == 2 && score_chains(80, 11) == 2);
static_assert(score_chains(256, 8) == 8 && score_chains(256, 11) == 16);

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
