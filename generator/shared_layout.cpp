#include "generator/shared_layout.hpp"

#include <algorithm>

#include "templates/layout.cuh"
#include "templates/warpgroup_layout.cuh"

namespace heddle {
namespace {

constexpr int kWarpThreads = 32;
constexpr int kFloatBytes = 4;
constexpr int kWordBytes = 4;
constexpr int kWorkItemBytes = 5 * kWordBytes;

constexpr std::string_view kQueryTile = "Q tile";
constexpr std::string_view kKeyRing = "K tiles";
constexpr std::string_view kValueRing = "V tiles";

int shared_tile_bytes(const Variant& variant, int rows, int columns) {
  return rows * shared_tile_pitch(columns) * element_bytes(variant.dtype);
}

/// A tile of Q, K or V.
int head_tile_bytes(const Variant& variant, int rows) {
  return shared_tile_bytes(variant, rows, padded_head_dim(variant.head_dim));
}

/// Q and a ring of K and V.
SharedLayout query_key_value(const Variant& variant, const KernelConfig& config) {
  SharedLayout layout;
  layout.add(kQueryTile, 1, head_tile_bytes(variant, config.tile_m));
  layout.add(kKeyRing, config.stages, head_tile_bytes(variant, config.tile_n));
  layout.add(kValueRing, config.stages, head_tile_bytes(variant, config.tile_n));
  return layout;
}

/// What fa1's warps exchange: per row a reference and a sum; per team the maxima, sums and one
/// 16-byte piece of partial output from each warp to each other, for two row tiles of a step.
void add_fa1_exchange(SharedLayout& layout, const KernelConfig& config) {
  const int key_warps = fa1_key_warps(config.warps);
  const int teams = config.warps / key_warps;
  const int rows = 2 * key_warps * kFa1StepRows * kFloatBytes;
  const int partials =
      kFa1Exchanges * key_warps * key_warps * (kFa1StepRows / 16) * kWarpThreads * 16;
  layout.add("row maxima and sums so far", 1, 2 * config.tile_m * kFloatBytes);
  layout.add("exchange of row maxima and sums", teams, rows);
  layout.add("exchange of partial outputs", teams, partials);
}

/// Stages of probabilities and V; the finished tile takes their place on its way out.
SharedLayout unfused_output(const Variant& variant, const KernelConfig& config) {
  SharedLayout layout;
  layout.add("P tiles", config.stages, shared_tile_bytes(variant, config.tile_m, config.tile_n));
  layout.add(kValueRing, config.stages, head_tile_bytes(variant, config.tile_n));
  const int beyond = head_tile_bytes(variant, config.tile_m) - layout.total();
  layout.add("O tile, where the stages are too small for it", 1, std::max(beyond, 0));
  return layout;
}

/// templates/part/redo_list.cuh: of each tile a byte of each warp, and its number; of each slot of
/// Q an entry; two words of the producer's; a barrier.
int redo_list_bytes(const KernelConfig& config) {
  constexpr int kMaxWarps = 16;
  const int tiles = config.query_stages + 2;
  const int words = (config.query_stages + 2) * kWordBytes;
  const int bytes = tiles * (kMaxWarps + kWorkItemBytes) + kBarrierBytes + words;
  return (bytes + 15) / 16 * 16;
}

/// Slots of Q, K and V in blocks of 64 columns; two barriers for each slot, a number of five words
/// for each of Q, another barrier, the guards' votes and their finding for each of V.
SharedLayout fa3(const Variant& variant, const KernelConfig& config) {
  // 8-bit tiles have no columns beyond the head's; transposed values are as many.
  const int row = variant.dtype == DataType::kE4m3
                      ? variant.head_dim
                      : tma_row_bytes(padded_head_dim(variant.head_dim));
  const int raw_slots = transposes_values(variant) ? kRawSlots : 0;
  SharedLayout layout;
  layout.add(kQueryTile, config.query_stages, config.tile_m * row);
  layout.add(kKeyRing, config.stages, config.tile_n * row);
  layout.add(kValueRing, config.stages, config.tile_n * row);
  layout.add("V tiles to be transposed", raw_slots, config.tile_n * row);
  const int query_slot = 2 * kBarrierBytes + kWorkItemBytes;
  const int key_value_slot = 5 * kBarrierBytes + (1 + kGuardWarps) * kWordBytes;
  // The producer's way through the barriers of masked V: a count, or a slot and a parity.
  const int way = (config.stages & (config.stages - 1)) == 0 ? kWordBytes : 2 * kWordBytes;
  const int control = way + redo_list_bytes(config) + config.query_stages * query_slot +
                      config.stages * key_value_slot + raw_slots * 2 * kBarrierBytes;
  layout.add("barriers, which query tile is next, findings of the helpers", 1, control);
  const int over = layout.total() % kTmaAlignment;
  layout.add("rest of the last 1024 bytes", 1, over == 0 ? 0 : kTmaAlignment - over);
  return layout;
}

SharedLayout reference(const Variant& variant, const KernelConfig& config) {
  const int accumulate = config.reference == ReferenceKind::kFloat64 ? 8 : 4;
  SharedLayout layout;
  layout.add("probabilities", 1, accumulate * config.tile_m * (config.tile_n + 1));
  layout.add("Q and K or V", 1,
             kFloatBytes * (config.tile_m + config.tile_n) * (variant.head_dim + 1));
  const int over = layout.total() % accumulate;
  layout.add("alignment", 1, over == 0 ? 0 : accumulate - over);
  return layout;
}

}  // namespace

SharedLayout shared_layout(const Variant& variant, const KernelConfig& config, KernelPart part) {
  SharedLayout layout;
  switch (part) {
    case KernelPart::kFa2Attention:
      return query_key_value(variant, config);
    case KernelPart::kFa1Attention:
      layout = query_key_value(variant, config);
      add_fa1_exchange(layout, config);
      return layout;
    case KernelPart::kUnfusedScores:
      layout.add(kQueryTile, 1, head_tile_bytes(variant, config.tile_m));
      layout.add(kKeyRing, config.stages, head_tile_bytes(variant, config.tile_n));
      return layout;
    case KernelPart::kUnfusedSoftmax:
      layout.add("a number of each warp", unfused_softmax_rows_per_block() / kSoftmaxRowsPerWarp,
                 kFloatBytes);
      return layout;
    case KernelPart::kUnfusedOutput:
      return unfused_output(variant, config);
    case KernelPart::kSplitCombine:
      return layout;
    case KernelPart::kFa3Attention:
      return fa3(variant, config);
    case KernelPart::kReference:
      return reference(variant, config);
  }
  return layout;
}

}  // namespace heddle
