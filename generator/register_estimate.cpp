// How many registers a part's main loop needs. The fragments follow from the layouts of
// mma.m16n8k16 and are exact; what ptxas adds is fitted.

#include <algorithm>

#include "generator/cost_model.hpp"
#include "generator/kernel_part.hpp"
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

/// Registers a thread can address.
constexpr int kAddressable = 255;

/// Copies of fewer than 16 bytes have more addresses in flight: all 16 of 200 random kernels that
/// spilled without this had an alignment of 2, 4 or 8.
constexpr int kFullAlignment = 16;
constexpr int kSmallCopies = 10;

/// unfused takes this always: all of 5 random kernels with 176 to 200 fragments spill 92 bytes or
/// more.
int with_full_overhead(const Variant& variant, int fragments) {
  const int copies = variant.alignment < kFullAlignment ? kSmallCopies : 0;
  return fragments * 5 / 4 + 40 + copies;
}

/// Left alone, ptxas takes about 5/4 of the fragments and 40 more; against the limit it packs them
/// tighter and gets by with `packed` more.
int with_overhead(const Variant& variant, int fragments, int packed) {
  const int relaxed = with_full_overhead(variant, fragments);
  if (variant.alignment < kFullAlignment) return relaxed;
  return std::min(relaxed, std::max(kAddressable, fragments + packed));
}

/// Fitted to fa2 kernels compiled for sm_90a by NVRTC 13.0: 204 fragments hardly spill (head_dim
/// 64, 192 x 64 on 4 warps), 216 do (128, 128 x 80).
constexpr int kPacked = 51;
/// For sm_100 to sm_120 it packs less tightly: with 184 fragments (128, 128 x 48 on 4 warps) a
/// causal kernel spills 20 to 40 bytes, with 192 to 204 nearly all do, up to 128.
constexpr int kBlackwellPacked = 75;
/// What fa1 takes there more than on sm_90a (199 and above 255 registers for head_dim 128, 32 x 64
/// on 4 warps).
constexpr int kBlackwellFa1 = 55;

bool is_blackwell(const DeviceLimits& limits) {
  return limits.capability_major >= 10;
}

/// The sums of Q K^T, and the one chain at a time that is added to them.
int scores(const Variant& variant, int rows, int columns) {
  const int depth = padded_head_dim(variant.head_dim);
  const int chains = score_chains(depth);
  return std::min(chains, 2) * accumulator(rows, columns);
}

int fa2_registers(const Variant& variant, const KernelConfig& config, const DeviceLimits& limits) {
  const int rows = config.tile_m / config.warps;
  const int depth = padded_head_dim(variant.head_dim);
  const int query = operand(rows, config.query_in_registers ? depth : kMmaRows);
  return with_overhead(variant,
                       accumulator(rows, depth) + scores(variant, rows, config.tile_n) + query,
                       is_blackwell(limits) ? kBlackwellPacked : kPacked);
}

/// Warps in fours (or a pair) split the keys and take 32 rows at a time; each holds its share of
/// the output, and a partial product as wide as eight columns for each warp of its four.
int fa1_registers(const Variant& variant, const KernelConfig& config, const DeviceLimits& limits) {
  const int key_warps = std::max(fa1_key_warps(config.warps), 1);
  const int output =
      accumulator(config.tile_m, padded_head_dim(variant.head_dim)) / std::max(config.warps, 1);
  const int step = scores(variant, kFa1StepRows, config.tile_n / key_warps);
  const int partial = accumulator(kFa1StepRows, 8 * key_warps);
  return with_overhead(variant, output + step + partial, kPacked) +
         (is_blackwell(limits) ? kBlackwellFa1 : 0);
}

/// The scores kernel and the output kernel, whichever is wider; warps tile the results in two
/// dimensions, so a thread's share is all that counts.
int unfused_registers(const Variant& variant, const KernelConfig& config) {
  const int results = std::max(scores(variant, config.tile_m, config.tile_n),
                               accumulator(config.tile_m, padded_head_dim(variant.head_dim))) /
                      std::max(config.warps, 1);
  return with_full_overhead(variant, results + operand(config.tile_m / 2, kMmaRows));
}

}  // namespace

/// Scores, packed probabilities and output of a warpgroup's 64 rows, and what ptxas adds.
int estimate_consumer_registers(const Variant& variant, const KernelConfig& config) {
  constexpr int kOverhead = 32;
  // 8-bit kernels of 256 columns and 128 keys spill without this.
  constexpr int kScaledCausal = 4;
  const int scores = config.tile_n / 2;
  const int output = padded_head_dim(variant.head_dim) / 2;
  if (variant.dtype == DataType::kE4m3) {
    const int causal = variant.mask == MaskKind::kCausal ? kScaledCausal : 0;
    return scores + scores / 4 + output + kOverhead + causal;
  }
  const int chains = wgmma_score_chains(padded_head_dim(variant.head_dim));
  return chains * scores + scores / 2 + output + kOverhead;
}

int estimate_registers(const Variant& variant, const KernelConfig& config,
                       const DeviceLimits& limits) {
  switch (config.family) {
    case Family::kFa2:
      return fa2_registers(variant, config, limits);
    case Family::kFa1:
      return fa1_registers(variant, config, limits);
    case Family::kFa3:
      return role_pool_registers(fa3_warps(config) * 32);
    case Family::kUnfused:
      return unfused_registers(variant, config);
    case Family::kReference:
      break;
  }
  return 64;  // a thread owns few entries: never near a limit
}

}  // namespace heddle
