#include "generator/kernel_part.hpp"

#include <algorithm>

#include "templates/layout.cuh"
#include "templates/warpgroup_layout.cuh"

namespace heddle {
namespace {

constexpr int kWarpThreads = 32;
constexpr int kSoftmaxThreads = 256;
constexpr int kCombineThreads = 128;
/// The reference's block is 16 x 16 threads.
constexpr int kReferenceThreads = 256;
constexpr int kFloatBytes = 4;
constexpr int kWordBytes = 4;
constexpr int kWorkItemBytes = 5 * kWordBytes;

int shared_tile_bytes(const Variant& variant, int rows, int columns) {
  return rows * shared_tile_pitch(columns) * element_bytes(variant.dtype);
}

/// A tile of Q, K or V.
int head_tile_bytes(const Variant& variant, int rows) {
  return shared_tile_bytes(variant, rows, padded_head_dim(variant.head_dim));
}

/// Q and a ring of K and V.
int query_key_value_bytes(const Variant& variant, const KernelConfig& config) {
  return head_tile_bytes(variant, config.tile_m) +
         2 * config.stages * head_tile_bytes(variant, config.tile_n);
}

/// What fa1's warps exchange: per row a reference and a sum; per team the maxima, sums and one
/// 16-byte piece of partial output from each warp to each other, for two row tiles of a step.
int fa1_exchange_bytes(const KernelConfig& config) {
  const int key_warps = fa1_key_warps(config.warps);
  const int teams = config.warps / key_warps;
  const int rows = 2 * key_warps * kFa1StepRows * kFloatBytes;
  const int partials =
      kFa1Exchanges * key_warps * key_warps * (kFa1StepRows / 16) * kWarpThreads * 16;
  return 2 * config.tile_m * kFloatBytes + teams * (rows + partials);
}

/// Stages of probabilities and V; the finished tile takes their place on its way out.
int unfused_output_bytes(const Variant& variant, const KernelConfig& config) {
  const int stage = shared_tile_bytes(variant, config.tile_m, config.tile_n) +
                    head_tile_bytes(variant, config.tile_n);
  return std::max(config.stages * stage, head_tile_bytes(variant, config.tile_m));
}

/// Slots of Q, K and V in blocks of 64 columns; two barriers for each slot, a number of five words
/// for each of Q, another barrier, the guards' votes and their finding for each of V.
int fa3_bytes(const Variant& variant, const KernelConfig& config) {
  // 8-bit tiles have no columns beyond the head's; transposed values are as many.
  const int row = variant.dtype == DataType::kE4m3
                      ? variant.head_dim
                      : tma_row_bytes(padded_head_dim(variant.head_dim));
  const int raw_slots = transposes_values(variant) ? kRawSlots : 0;
  const int tiles =
      config.query_stages * config.tile_m + (2 * config.stages + raw_slots) * config.tile_n;
  const int query_slot = 2 * kBarrierBytes + kWorkItemBytes;
  const int key_value_slot = 5 * kBarrierBytes + (1 + kGuardWarps) * kWordBytes;
  const int control = config.query_stages * query_slot + config.stages * key_value_slot +
                      raw_slots * 2 * kBarrierBytes;
  return (tiles * row + control + kTmaAlignment - 1) / kTmaAlignment * kTmaAlignment;
}

int reference_bytes(const Variant& variant, const KernelConfig& config) {
  const int accumulate = config.reference == ReferenceKind::kFloat64 ? 8 : 4;
  const int probabilities = accumulate * config.tile_m * (config.tile_n + 1);
  const int tiles = kFloatBytes * (config.tile_m + config.tile_n) * (variant.head_dim + 1);
  return (probabilities + tiles + accumulate - 1) / accumulate * accumulate;
}

int shared_bytes(const Variant& variant, const KernelConfig& config, KernelPart part) {
  switch (part) {
    case KernelPart::kFa2Attention:
      return query_key_value_bytes(variant, config);
    case KernelPart::kFa1Attention:
      return query_key_value_bytes(variant, config) + fa1_exchange_bytes(config);
    case KernelPart::kUnfusedScores:
      return head_tile_bytes(variant, config.tile_m) +
             config.stages * head_tile_bytes(variant, config.tile_n);
    case KernelPart::kUnfusedSoftmax:
      return kSoftmaxThreads / kWarpThreads * kFloatBytes;
    case KernelPart::kUnfusedOutput:
      return unfused_output_bytes(variant, config);
    case KernelPart::kSplitCombine:
      return 0;
    case KernelPart::kFa3Attention:
      return fa3_bytes(variant, config);
    case KernelPart::kReference:
      return reference_bytes(variant, config);
  }
  return 0;
}

int threads(const KernelConfig& config, KernelPart part) {
  switch (part) {
    case KernelPart::kUnfusedSoftmax:
      return kSoftmaxThreads;
    case KernelPart::kSplitCombine:
      return kCombineThreads;
    case KernelPart::kReference:
      return kReferenceThreads;
    case KernelPart::kFa3Attention:
      return fa3_warps(config) * kWarpThreads;
    default:
      return config.warps * kWarpThreads;
  }
}

}  // namespace

KernelParts kernel_parts(const KernelConfig& config) {
  switch (config.family) {
    case Family::kUnfused:
      return {{KernelPart::kUnfusedScores, KernelPart::kUnfusedSoftmax, KernelPart::kUnfusedOutput},
              3};
    case Family::kFa1:
      return {{KernelPart::kFa1Attention}, 1};
    case Family::kFa2:
      if (config.split_kv) return {{KernelPart::kFa2Attention, KernelPart::kSplitCombine}, 2};
      return {{KernelPart::kFa2Attention}, 1};
    case Family::kFa3:
      if (config.split_kv) return {{KernelPart::kFa3Attention, KernelPart::kSplitCombine}, 2};
      return {{KernelPart::kFa3Attention}, 1};
    case Family::kReference:
      return {{KernelPart::kReference}, 1};
  }
  return {};
}

int fa3_warps(const KernelConfig& config) {
  return config.warps + (config.warp_specialized ? kWarpgroupWarps : 0);
}

PartFootprint part_footprint(const Variant& variant, const KernelConfig& config, KernelPart part) {
  return {threads(config, part), shared_bytes(variant, config, part)};
}

int unfused_softmax_rows_per_block() {
  return kSoftmaxThreads / kWarpThreads * kSoftmaxRowsPerWarp;
}
// One warp per row.
int combine_rows_per_block() {
  return kCombineThreads / kWarpThreads;
}

}  // namespace heddle
