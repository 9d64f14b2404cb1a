#include "generator/launch_plan.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

#include <fmt/format.h>

#include "generator/ceil_div.hpp"
#include "generator/work_cut.hpp"

namespace heddle {
namespace {

/// Strides of a tensor map are below this; and its rows cannot all be the same one. Alignment 8
/// tells that such a tensor has no map.
constexpr std::uint64_t kTensorMapStrideEnd = 1ull << 40;
constexpr std::uint64_t kNoTensorMap = 8;
constexpr long long kMaxGrid = 2147483647;  ///< grid.x limit of every architecture since sm_30
constexpr std::size_t kWorkspaceAlignment = 256;

std::size_t align_up(std::size_t bytes) {
  return (bytes + kWorkspaceAlignment - 1) / kWorkspaceAlignment * kWorkspaceAlignment;
}

long long query_rows(const Sizes& sizes) {
  return static_cast<long long>(sizes.batch) * sizes.heads * sizes.seqlen_q;
}

unsigned checked_grid(long long blocks, KernelPart part) {
  if (blocks <= kMaxGrid) return static_cast<unsigned>(blocks);
  throw Error(ErrorCode::kInvalidArgument, "batch",
              fmt::format("batch * heads * query tiles: {} needs {} blocks, more than the {} of a "
                          "grid; use a larger tile_m or fewer sequences per call",
                          enum_name(part), blocks, kMaxGrid));
}

/// Of a problem cut into `tiles` query tiles.
long long part_blocks(const Sizes& sizes, const LaunchPlan& plan, long long tiles,
                      KernelPart part) {
  switch (part) {
    case KernelPart::kUnfusedScores:  // a block walks the key tiles of its rows
    case KernelPart::kUnfusedOutput:
      return tiles;
    case KernelPart::kUnfusedSoftmax:
      return ceil_div(query_rows(sizes), unfused_softmax_rows_per_block());
    case KernelPart::kFa1Attention:
      return static_cast<long long>(sizes.batch) * sizes.heads;
    case KernelPart::kFa2Attention:
    case KernelPart::kFa3Attention:
      return tiles * plan.num_splits;
    case KernelPart::kSplitCombine:
      return ceil_div(query_rows(sizes), combine_rows_per_block());
    case KernelPart::kReference:
      return tiles;
  }
  return 0;
}

std::size_t partial_output_bytes(const Problem& problem, int num_splits) {
  return align_up(static_cast<std::size_t>(query_rows(problem.sizes)) * num_splits *
                  static_cast<std::size_t>(problem.variant.head_dim) * sizeof(float));
}

/// Rows of scores start 16-byte aligned also when the softmax writes 2-byte probabilities there.
long long score_pitch(const Sizes& sizes) {
  return ceil_div(sizes.seqlen_kv, 8) * 8;
}

std::size_t workspace_bytes(const Problem& problem, const KernelConfig& config, int num_splits) {
  const auto rows = static_cast<std::size_t>(query_rows(problem.sizes));
  if (config.family == Family::kUnfused) {
    return rows * static_cast<std::size_t>(score_pitch(problem.sizes)) * sizeof(float);
  }
  if (config.split_kv) {
    return partial_output_bytes(problem, num_splits) + rows * num_splits * sizeof(PartialRow);
  }
  // The float64 reference keeps O and LSE in double; they take the place of split partials.
  if (config.family == Family::kReference && config.reference == ReferenceKind::kFloat64) {
    // Of 8-bit inputs, how far LSE may be off comes behind it.
    const std::size_t per_row = problem.variant.dtype == DataType::kE4m3 ? 2 : 1;
    return align_up(rows * static_cast<std::size_t>(problem.variant.head_dim) * sizeof(double)) +
           per_row * rows * sizeof(double);
  }
  return 0;
}

TensorView view(void* data, const Strides& strides) {
  return {data, strides.batch, strides.head, strides.row};
}

}  // namespace

LaunchPlan plan_launch(const Problem& problem, const KernelConfig& config,
                       const DeviceLimits& limits) {
  LaunchPlan plan;
  if (is_empty(problem.sizes)) return plan;
  const QueryCut cut = cut_queries(problem, config);
  const KeySplit split = split_keys(problem, config, cut.tiles, limits);
  plan.packed_heads = cut.packed_heads;
  plan.tile_queries = cut.tile_queries;
  plan.query_tiles = cut.query_tiles;
  plan.num_splits = split.num_splits;
  plan.split_tiles = split.split_tiles;
  plan.workspace_bytes = workspace_bytes(problem, config, plan.num_splits);
  if (config.family == Family::kFa3) {
    plan.draws_tiles = config.scheduler == TileScheduler::kDynamic;
    plan.maps = {config.tile_m,
                 config.tile_n,
                 problem.variant.head_dim,
                 problem.variant.dtype,
                 config.tma_store,
                 config.pack_gqa ? cut.packed_heads : 0,
                 problem.variant.value_layout};
  }
  for (const KernelPart part : kernel_parts(config)) {
    const PartFootprint footprint = part_footprint(problem.variant, config, part);
    const long long blocks = part_blocks(problem.sizes, plan, cut.tiles, part);
    unsigned grid = checked_grid(blocks, part);
    // One block fills an SM.
    if (loads_by_tma(part) && config.scheduler != TileScheduler::kTilePerBlock) {
      grid = std::min(grid, static_cast<unsigned>(limits.sm_count));
    }
    plan.launches[plan.count++] = {part, grid, footprint.threads, footprint.shared_bytes};
  }
  return plan;
}

AttentionParameters fill_parameters(const Problem& problem, const KernelConfig& config,
                                    const LaunchPlan& plan, const TensorPointers& pointers) {
  const Sizes& sizes = problem.sizes;
  const int columns = problem.variant.head_dim;
  const int kv_heads = sizes.resolved_kv_heads();
  AttentionParameters parameters{};
  parameters.query = view(
      pointers.query, resolved_strides(sizes.query_strides, sizes.heads, sizes.seqlen_q, columns));
  parameters.key =
      view(pointers.key, resolved_strides(sizes.key_strides, kv_heads, sizes.seqlen_kv, columns));
  const MatrixExtent values = value_extent(problem);
  parameters.value = view(
      pointers.value, resolved_strides(sizes.value_strides, kv_heads, values.rows, values.columns));
  parameters.output = view(pointers.output, resolved_strides(sizes.output_strides, sizes.heads,
                                                             sizes.seqlen_q, columns));
  parameters.log_sum_exp = pointers.log_sum_exp;
  parameters.query_descale = pointers.query_descale;
  parameters.key_descale = pointers.key_descale;
  parameters.value_descale = pointers.value_descale;
  parameters.value_mean = pointers.value_mean;
  parameters.log_sum_exp_shift = pointers.log_sum_exp_shift;
  parameters.batch = sizes.batch;
  parameters.heads = sizes.heads;
  parameters.kv_heads = kv_heads;
  parameters.seqlen_q = sizes.seqlen_q;
  parameters.seqlen_kv = sizes.seqlen_kv;
  parameters.query_tiles = plan.query_tiles;
  parameters.packed_heads = plan.packed_heads;
  parameters.tile_queries = plan.tile_queries;
  const double scale = resolved_scale(problem.variant, sizes);
  parameters.scale = static_cast<float>(scale);
  const double scale_log2 = scale * std::numbers::log2e;
  parameters.scale_log2 = static_cast<float>(scale_log2);
  parameters.scale_log2_excess =
      static_cast<float>((static_cast<double>(parameters.scale_log2) - scale_log2) / scale_log2);
  parameters.num_splits = plan.num_splits;
  parameters.split_tiles = plan.split_tiles;
  auto* workspace = static_cast<char*>(pointers.workspace);
  if (config.family == Family::kUnfused) {
    parameters.scores = reinterpret_cast<float*>(workspace);
    parameters.score_pitch = score_pitch(sizes);
  } else if (plan.workspace_bytes > 0) {
    const bool float64 = config.family == Family::kReference;
    const std::size_t output_bytes = partial_output_bytes(problem, float64 ? 2 : plan.num_splits);
    parameters.partial_output = reinterpret_cast<float*>(workspace);
    parameters.partial_rows = reinterpret_cast<PartialRow*>(workspace + output_bytes);
  }
  return parameters;
}

int alignment_class(const Problem& problem, const TensorPointers& pointers) {
  std::uint64_t bits = 16;
  // A stride along an axis of one entry is never multiplied: frameworks put anything there.
  const auto add_stride = [&](long long stride, int extent, std::uint64_t bytes) {
    if (extent <= 1) return;
    bits |= static_cast<std::uint64_t>(stride) * bytes;
    // Beyond what a tensor map can say, so that kernels which need one are out.
    if (static_cast<std::uint64_t>(stride) * bytes >= kTensorMapStrideEnd) bits |= kNoTensorMap;
  };
  const Sizes& sizes = problem.sizes;
  const auto add = [&](const void* pointer, const Strides& strides, int heads,
                       const MatrixExtent& extent, DataType type) {
    bits |= reinterpret_cast<std::uintptr_t>(pointer);
    const auto bytes = static_cast<std::uint64_t>(element_bytes(type));
    const Strides full = resolved_strides(strides, heads, extent.rows, extent.columns);
    add_stride(full.batch, sizes.batch, bytes);
    add_stride(full.head, heads, bytes);
    add_stride(full.row, extent.rows, bytes);
    if (full.row == 0 && extent.rows > 1) bits |= kNoTensorMap;
  };
  const Variant& variant = problem.variant;
  const int kv_heads = sizes.resolved_kv_heads();
  const MatrixExtent queries{sizes.seqlen_q, variant.head_dim};
  const MatrixExtent keys{sizes.seqlen_kv, variant.head_dim};
  add(pointers.query, sizes.query_strides, sizes.heads, queries, variant.dtype);
  add(pointers.key, sizes.key_strides, kv_heads, keys, variant.dtype);
  add(pointers.value, sizes.value_strides, kv_heads, value_extent(problem), variant.dtype);
  add(pointers.output, sizes.output_strides, sizes.heads, queries, output_type(variant));
  for (const int alignment : {16, 8, 4, 2}) {
    if (bits % static_cast<std::uint64_t>(alignment) == 0) return alignment;
  }
  return 0;
}

}  // namespace heddle
