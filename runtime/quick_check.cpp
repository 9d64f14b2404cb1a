#include "runtime/quick_check.hpp"

#include <algorithm>
#include <array>
#include <climits>

namespace heddle {
namespace {

/// Strides below this times extents below 2^31, three of them, times the element size stay below
/// 2^63.
constexpr long long kModestStride = 1LL << 29;
/// So do contiguous tensors of fewer elements than this, and their fp32 partials times 1024.
constexpr double kModestElements = 1e14;

struct Extents {
  int batch, heads, rows;
};

bool counts_valid(const Sizes& sizes) noexcept {
  const bool negative = (sizes.batch | sizes.heads | sizes.kv_heads | sizes.seqlen_q |
                         sizes.seqlen_kv | sizes.num_splits) < 0;
  const int kv_heads = sizes.resolved_kv_heads();
  return !negative && sizes.heads > 0 && kv_heads > 0 && sizes.heads % kv_heads == 0 &&
         sizes.num_splits <= 1024;
}

/// Zero (the default) or well inside fp32's normal range.
bool scale_valid(double scale) noexcept {
  return scale == 0 || (scale > 1e-30 && scale < 1e30);
}

bool strides_modest(const Strides& strides) noexcept {
  const auto modest = [](long long stride) { return stride >= 0 && stride < kModestStride; };
  return modest(strides.batch) && modest(strides.head) && modest(strides.row);
}

bool contiguous_modest(const Extents& extents, int columns) noexcept {
  return static_cast<double>(extents.batch) * extents.heads * extents.rows * columns <
         kModestElements;
}

/// Rows of the output do not overlap: each axis steps over all that the smaller ones reach.
bool rows_apart(const Strides& strides, const Extents& extents, int columns) noexcept {
  std::array<std::pair<long long, int>, 3> axes{std::pair{strides.batch, extents.batch},
                                                std::pair{strides.head, extents.heads},
                                                std::pair{strides.row, extents.rows}};
  std::sort(axes.begin(), axes.end());
  long long reach = columns;
  for (const auto& [stride, extent] : axes) {
    if (extent <= 1) continue;
    if (stride < reach) return false;
    reach += stride * (extent - 1);
  }
  return true;
}

bool variant_valid(const Variant& variant) noexcept {
  const bool is_e4m3 = variant.dtype == DataType::kE4m3;
  const bool is_neutral = variant.output_dtype == DataType::kBf16 &&
                          variant.scales == ScaleKind::kHead &&
                          variant.value_layout == ValueLayout::kRows;
  return is_plain(variant) && variant.head_dim >= 8 && variant.head_dim <= 256 &&
         variant.head_dim % (is_e4m3 ? 32 : 8) == 0 &&
         (is_e4m3 ? variant.output_dtype != DataType::kE4m3 : is_neutral);
}

/// Of 8-bit elements the smallest alignment, 2 bytes, is two of them.
bool steps_valid(DataType dtype, const Strides& strides) noexcept {
  return dtype != DataType::kE4m3 || (strides.batch | strides.head | strides.row) % 2 == 0;
}

bool tensors_valid(const Variant& variant, const Sizes& sizes) noexcept {
  const Extents queries{sizes.batch, sizes.heads, sizes.seqlen_q};
  // Transposed values have up to 15 keys more.
  if (sizes.seqlen_kv > INT_MAX - 16) return false;
  const Extents keys{sizes.batch, sizes.resolved_kv_heads(), sizes.seqlen_kv + 16};
  const int columns = variant.head_dim;
  return contiguous_modest(queries, columns) && contiguous_modest(keys, columns) &&
         steps_valid(variant.dtype, sizes.query_strides) &&
         steps_valid(variant.dtype, sizes.key_strides) &&
         steps_valid(variant.dtype, sizes.value_strides) && strides_modest(sizes.query_strides) &&
         strides_modest(sizes.key_strides) && strides_modest(sizes.value_strides) &&
         strides_modest(sizes.output_strides) &&
         (sizes.output_strides.is_default() || rows_apart(sizes.output_strides, queries, columns));
}

}  // namespace

bool is_plain(const Variant& variant) noexcept {
  return variant.head_dim_v == 0 && variant.window_left == -1 && variant.window_right == -1 &&
         variant.softcap == 0 && !variant.bias && !variant.alibi && !variant.sinks &&
         variant.score_snippet.empty() && variant.mask_snippet.empty() &&
         variant.direction == Direction::kForward && variant.lengths == LengthKind::kFixed &&
         !variant.paged_kv && !variant.batch_invariant;
}

bool surely_valid(const Problem& problem) noexcept {
  return variant_valid(problem.variant) && counts_valid(problem.sizes) &&
         scale_valid(problem.sizes.scale) && tensors_valid(problem.variant, problem.sizes);
}

void require_valid(Problem& problem) {
  problem.variant.alignment = 2;
  if (surely_valid(problem)) [[likely]]
    return;
  require(reject_problem(problem));
  // The kernel table would mistake it for its plain sibling.
  if (is_plain(problem.variant)) return;
  throw Error(ErrorCode::kUnsupported, "variant",
              "unsupported by the runtime: " + canonical_text(problem.variant));
}

}  // namespace heddle
