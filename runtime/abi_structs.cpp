#include "runtime/abi_structs.hpp"

#include <algorithm>
#include <climits>
#include <utility>

#include <fmt/format.h>

namespace heddle {
namespace {

int narrow(const char* field, std::int64_t value) {
  if (value >= INT_MIN && value <= INT_MAX) [[likely]]
    return static_cast<int>(value);
  throw Error(ErrorCode::kInvalidArgument, field,
              fmt::format("{}: {} is beyond {}; split the problem", field, value, INT_MAX));
}

DataType read_dtype(const char* field, std::int32_t dtype) {
  switch (dtype) {
    case HEDDLE_BF16:
      return DataType::kBf16;
    case HEDDLE_FP16:
      return DataType::kFp16;
    case HEDDLE_E4M3:
      return DataType::kE4m3;
    default:
      break;
  }
  throw Error(ErrorCode::kInvalidArgument, field,
              fmt::format("{}: {} is not HEDDLE_BF16 (0), HEDDLE_FP16 (1) or HEDDLE_E4M3 (2)",
                          field, dtype));
}

ScaleKind read_scales(std::int32_t scales) {
  switch (scales) {
    case HEDDLE_SCALES_HEAD:
      return ScaleKind::kHead;
    case HEDDLE_SCALES_TENSOR:
      return ScaleKind::kTensor;
    case HEDDLE_SCALES_BLOCK:
      return ScaleKind::kBlock;
    case HEDDLE_SCALES_TOKEN:
      return ScaleKind::kToken;
    default:
      break;
  }
  throw Error(ErrorCode::kInvalidArgument, "scales",
              fmt::format("scales: {} is not HEDDLE_SCALES_HEAD (0), _TENSOR (1), _BLOCK (2) or "
                          "_TOKEN (3)",
                          scales));
}

ValueLayout read_value_layout(std::int32_t layout) {
  if (layout == HEDDLE_VALUE_ROWS) return ValueLayout::kRows;
  if (layout == HEDDLE_VALUE_TRANSPOSED) return ValueLayout::kTransposed;
  throw Error(ErrorCode::kInvalidArgument, "value_layout",
              fmt::format("value_layout: {} is not HEDDLE_VALUE_ROWS (0) or "
                          "HEDDLE_VALUE_TRANSPOSED (1)",
                          layout));
}

MaskKind read_mask(std::int32_t mask) {
  if (mask == HEDDLE_FULL) return MaskKind::kFull;
  if (mask == HEDDLE_CAUSAL) return MaskKind::kCausal;
  throw Error(ErrorCode::kInvalidArgument, "mask",
              fmt::format("mask: {} is not HEDDLE_FULL (0) or HEDDLE_CAUSAL (1)", mask));
}

Direction read_direction(std::int32_t direction) {
  if (direction == HEDDLE_FORWARD) return Direction::kForward;
  if (direction == HEDDLE_BACKWARD) return Direction::kBackward;
  throw Error(
      ErrorCode::kInvalidArgument, "direction",
      fmt::format("direction: {} is not HEDDLE_FORWARD (0) or HEDDLE_BACKWARD (1)", direction));
}

std::int32_t write_dtype(DataType type) {
  if (type == DataType::kE4m3) return HEDDLE_E4M3;
  return type == DataType::kFp16 ? HEDDLE_FP16 : HEDDLE_BF16;
}

std::int32_t write_scales(ScaleKind scales) {
  switch (scales) {
    case ScaleKind::kTensor:
      return HEDDLE_SCALES_TENSOR;
    case ScaleKind::kBlock:
      return HEDDLE_SCALES_BLOCK;
    case ScaleKind::kToken:
      return HEDDLE_SCALES_TOKEN;
    case ScaleKind::kHead:
      break;
  }
  return HEDDLE_SCALES_HEAD;
}

Strides read_strides(const std::int64_t (&strides)[3]) {
  return {.batch = strides[0], .head = strides[1], .row = strides[2]};
}

void read_window(const heddle_problem& problem, Variant& variant) {
  if ((problem.features & HEDDLE_WINDOW) != 0) {
    variant.window_left = narrow("window_left", problem.window_left);
    variant.window_right = narrow("window_right", problem.window_right);
    return;
  }
  if (problem.window_left == 0 && problem.window_right == 0) return;
  const bool left = problem.window_left != 0;
  throw Error(ErrorCode::kInvalidArgument, left ? "window_left" : "window_right",
              fmt::format("{}: {} is given but features lacks HEDDLE_WINDOW; set it, or leave the "
                          "window at 0",
                          left ? "window_left" : "window_right",
                          left ? problem.window_left : problem.window_right));
}

LengthKind read_lengths(std::uint32_t features) {
  if ((features & HEDDLE_CU_SEQLENS) != 0) return LengthKind::kCuSeqlens;
  if ((features & HEDDLE_SEQUSED) != 0) return LengthKind::kSeqused;
  return LengthKind::kFixed;
}

/// What e4m3 inputs bring. That other inputs leave it at zero is reject_problem's business.
void read_scaled_inputs(const heddle_problem& problem, Variant& variant) {
  variant.output_dtype = read_dtype("output_dtype", problem.output_dtype);
  variant.scales = read_scales(problem.scales);
  variant.value_layout = read_value_layout(problem.value_layout);
  if (problem.reserved == 0) return;
  throw Error(ErrorCode::kUnsupported, "reserved",
              fmt::format("unsupported: reserved (value {}); leave it 0", problem.reserved));
}

/// Everything that most problems leave at zero.
void read_features(const heddle_problem& problem, Variant& variant) {
  constexpr std::uint32_t kKnown = 2 * HEDDLE_BATCH_INVARIANT - 1;
  const std::uint32_t features = problem.features;
  if ((features & ~kKnown) != 0) {
    throw Error(ErrorCode::kUnsupported, "features",
                fmt::format("unsupported: features (bits {:#x} are not known to this version)",
                            features & ~kKnown));
  }
  read_window(problem, variant);
  variant.direction = read_direction(problem.direction);
  variant.softcap = problem.softcap;
  variant.bias = (features & HEDDLE_BIAS) != 0;
  variant.alibi = (features & HEDDLE_ALIBI) != 0;
  variant.sinks = (features & HEDDLE_SINKS) != 0;
  variant.lengths = read_lengths(features);
  variant.paged_kv = (features & HEDDLE_PAGED_KV) != 0;
  variant.batch_invariant = (features & HEDDLE_BATCH_INVARIANT) != 0;
  if (problem.score_snippet != nullptr) variant.score_snippet = problem.score_snippet;
  if (problem.mask_snippet != nullptr) variant.mask_snippet = problem.mask_snippet;
  const int head_dim_v = narrow("head_dim_v", problem.head_dim_v);
  variant.head_dim_v = head_dim_v == variant.head_dim ? 0 : head_dim_v;
}

/// All of the above at zero, as in most problems.
bool asks_for_nothing_more(const heddle_problem& problem) {
  return problem.features == 0 && problem.direction == HEDDLE_FORWARD && problem.softcap == 0 &&
         problem.window_left == 0 && problem.window_right == 0 &&
         problem.score_snippet == nullptr && problem.mask_snippet == nullptr &&
         problem.head_dim_v == 0;
}

}  // namespace

void require_struct(const void* given, std::size_t known_size, const char* what) {
  if (given == nullptr) {
    throw Error(ErrorCode::kInvalidArgument, what, fmt::format("{}: is null", what));
  }
  std::size_t size = 0;
  std::memcpy(&size, given, sizeof size);
  if (size < sizeof size || size > (std::size_t{1} << 20)) {
    throw Error(ErrorCode::kInvalidArgument, "struct_size",
                fmt::format("{}: struct_size is {}; set it to sizeof the struct", what, size));
  }
  const auto* bytes = static_cast<const char*>(given);
  // A longer struct comes from a newer header: fine as long as it asks for nothing new.
  const bool asks = std::any_of(bytes + std::min(size, known_size), bytes + size,
                                [](char byte) { return byte != 0; });
  if (!asks) return;
  throw Error(ErrorCode::kUnsupported, "struct_size",
              fmt::format("{}: has {} bytes where this heddle knows {}, and the rest is not zero; "
                          "use the library that belongs to your heddle.h",
                          what, size, known_size));
}

Problem read_problem(const heddle_problem& problem) {
  Problem result;
  Variant& variant = result.variant;
  variant.dtype = read_dtype("dtype", problem.dtype);
  variant.head_dim = narrow("head_dim", problem.head_dim);
  variant.mask = read_mask(problem.mask);
  if (!asks_for_nothing_more(problem)) [[unlikely]]
    read_features(problem, variant);
  read_scaled_inputs(problem, variant);
  Sizes& sizes = result.sizes;
  sizes.batch = narrow("batch", problem.batch);
  sizes.heads = narrow("heads", problem.heads);
  sizes.kv_heads = narrow("kv_heads", problem.kv_heads);
  sizes.seqlen_q = narrow("seqlen_q", problem.seqlen_q);
  sizes.seqlen_kv = narrow("seqlen_kv", problem.seqlen_kv);
  sizes.num_splits = narrow("num_splits", problem.num_splits);
  sizes.scale = problem.scale;
  sizes.query_strides = read_strides(problem.query_strides);
  sizes.key_strides = read_strides(problem.key_strides);
  sizes.value_strides = read_strides(problem.value_strides);
  sizes.output_strides = read_strides(problem.output_strides);
  return result;
}

heddle_problem write_problem(const Problem& problem) {
  const auto write = [](const Strides& strides, std::int64_t(&target)[3]) {
    target[0] = strides.batch;
    target[1] = strides.head;
    target[2] = strides.row;
  };
  const auto& [variant, sizes] = problem;
  heddle_problem result{};
  result.struct_size = sizeof result;
  result.batch = sizes.batch;
  result.heads = sizes.heads;
  result.kv_heads = sizes.kv_heads;
  result.seqlen_q = sizes.seqlen_q;
  result.seqlen_kv = sizes.seqlen_kv;
  result.head_dim = variant.head_dim;
  result.dtype = write_dtype(variant.dtype);
  result.output_dtype = write_dtype(variant.output_dtype);
  result.scales = write_scales(variant.scales);
  result.value_layout = variant.value_layout == ValueLayout::kTransposed ? HEDDLE_VALUE_TRANSPOSED
                                                                         : HEDDLE_VALUE_ROWS;
  result.mask = variant.mask == MaskKind::kCausal ? HEDDLE_CAUSAL : HEDDLE_FULL;
  result.scale = sizes.scale;
  result.num_splits = sizes.num_splits;
  write(sizes.query_strides, result.query_strides);
  write(sizes.key_strides, result.key_strides);
  write(sizes.value_strides, result.value_strides);
  write(sizes.output_strides, result.output_strides);
  return result;
}

QuantiserCall read_quantiser(const heddle_quantiser& quantiser) {
  constexpr std::uint32_t kKnown = 2 * HEDDLE_VALUE_MEAN - 1;
  if ((quantiser.steps & ~kKnown) != 0) {
    throw Error(ErrorCode::kUnsupported, "steps",
                fmt::format("unsupported: steps (bits {:#x} are not known to this version)",
                            quantiser.steps & ~kKnown));
  }
  if (quantiser.reserved != 0) {
    throw Error(ErrorCode::kUnsupported, "reserved",
                fmt::format("unsupported: reserved (value {}); leave it 0", quantiser.reserved));
  }
  QuantiserCall call;
  call.dtype = read_dtype("dtype", quantiser.dtype);
  call.recipe = {.rotate = (quantiser.steps & HEDDLE_ROTATE) != 0,
                 .key_mean = (quantiser.steps & HEDDLE_KEY_MEAN) != 0,
                 .value_mean = (quantiser.steps & HEDDLE_VALUE_MEAN) != 0};
  call.seed = quantiser.seed;
  call.query = {quantiser.query, read_strides(quantiser.query_strides)};
  call.key = {quantiser.key, read_strides(quantiser.key_strides)};
  call.value = {quantiser.value, read_strides(quantiser.value_strides)};
  return call;
}

TensorPointers read_arguments(const heddle_arguments& arguments) {
  const std::pair<const char*, const void*> absent[] = {{"cu_seqlens_q", arguments.cu_seqlens_q},
                                                        {"cu_seqlens_kv", arguments.cu_seqlens_kv},
                                                        {"seqused_kv", arguments.seqused_kv},
                                                        {"page_table", arguments.page_table},
                                                        {"bias", arguments.bias},
                                                        {"alibi_slopes", arguments.alibi_slopes},
                                                        {"sinks", arguments.sinks}};
  for (const auto& [field, pointer] : absent) {
    if (pointer == nullptr) [[likely]]
      continue;
    throw Error(ErrorCode::kUnsupported, field,
                fmt::format("unsupported: {} (value {}); leave it null", field, pointer));
  }
  // Kernels take one type for all tensors; they never write through the first three.
  return {.query = const_cast<void*>(arguments.query),
          .key = const_cast<void*>(arguments.key),
          .value = const_cast<void*>(arguments.value),
          .output = arguments.output,
          .log_sum_exp = arguments.log_sum_exp,
          .workspace = arguments.workspace,
          .query_descale = arguments.query_descale,
          .key_descale = arguments.key_descale,
          .value_descale = arguments.value_descale,
          .value_mean = arguments.value_mean,
          .log_sum_exp_shift = arguments.log_sum_exp_shift};
}

}  // namespace heddle
