#include "generator/fragments.hpp"

#include <algorithm>

#include "templates/layout.cuh"
#include "templates/warpgroup_layout.cuh"

namespace heddle {
namespace {

constexpr int kMmaRows = 16;

/// Registers per thread of a warp's fp32 tile: rows * columns / 32 lanes.
int accumulator(int rows, int columns) {
  return rows * columns / 32;
}

/// The same of a 16-bit operand: two elements share a register.
int operand(int rows, int columns) {
  return rows * columns / 64;
}

/// The sums of Q K^T, and the one chain at a time that is added to them.
int score_sums(int depth, int rows, int columns) {
  return std::min(score_chains(depth), 2) * accumulator(rows, columns);
}

Fragments fa2(const KernelConfig& config, int depth) {
  const int rows = config.tile_m / config.warps;
  Fragments result;
  result.output = accumulator(rows, depth);
  result.scores = score_sums(depth, rows, config.tile_n);
  result.query = operand(rows, config.query_in_registers ? depth : kMmaRows);
  return result;
}

/// Warps in fours (or a pair) split the keys and take 32 rows at a time; each holds its share of
/// the output, and a partial product as wide as eight columns for each warp of its four.
Fragments fa1(const KernelConfig& config, int depth) {
  const int key_warps = std::max(fa1_key_warps(config.warps), 1);
  Fragments result;
  result.output = accumulator(config.tile_m, depth) / std::max(config.warps, 1);
  result.scores = score_sums(depth, kFa1StepRows, config.tile_n / key_warps);
  result.partial = accumulator(kFa1StepRows, 8 * key_warps);
  return result;
}

/// Warps tile the results in two dimensions, so a thread's share is all that counts.
Fragments unfused(const KernelConfig& config, int depth, KernelPart part) {
  const int warps = std::max(config.warps, 1);
  Fragments result;
  if (part == KernelPart::kUnfusedScores) {
    result.scores = score_sums(depth, config.tile_m, config.tile_n) / warps;
    result.query = operand(config.tile_m / 2, kMmaRows);
  } else {
    result.output = accumulator(config.tile_m, depth) / warps;
    result.probabilities = operand(config.tile_m / 2, kMmaRows);
  }
  return result;
}

/// A consumer's 64 rows over the threads of its warpgroup. Probabilities of 8 bits are half as
/// wide.
Fragments fa3(const Variant& variant, const KernelConfig& config, int depth) {
  const bool bytes = variant.dtype == DataType::kE4m3;
  const int scores = config.tile_n / 2;
  Fragments result;
  result.output = variant.head_dim / 2;
  result.scores = bytes ? scores : wgmma_score_chains(depth) * scores;
  result.probabilities = bytes ? scores / 4 : scores / 2;
  return result;
}

}  // namespace

Fragments fragments_of(const Variant& variant, const KernelConfig& config, KernelPart part) {
  const int depth = padded_head_dim(variant.head_dim);
  switch (part) {
    case KernelPart::kUnfusedScores:
    case KernelPart::kUnfusedOutput:
      return unfused(config, depth, part);
    case KernelPart::kFa1Attention:
      return fa1(config, depth);
    case KernelPart::kFa2Attention:
      return fa2(config, depth);
    case KernelPart::kFa3Attention:
      return fa3(variant, config, depth);
    default:
      return {};
  }
}

}  // namespace heddle
