// What makes a problem wrong or unsupported. Every answer names the field, its value and a remedy.

#include <algorithm>
#include <array>
#include <cfloat>
#include <cmath>
#include <numbers>

#include "generator/problem.hpp"
#include "generator/stride_check.hpp"

namespace heddle {
namespace {

using Verdict = std::optional<Rejection>;

/// More splits than this never paid: the combine kernel would read more than the kernel saves.
constexpr int kMaxSplits = 1024;

Verdict invalid(const std::string& field, const std::string& value, const std::string& why) {
  return Rejection{field, field + ": " + value + " " + why, false};
}

Verdict unsupported(const std::string& field, const std::string& value,
                    const std::string& neutral) {
  return Rejection{field,
                   "unsupported: " + field + " (value " + value + "); heddle computes only " +
                       field + " = " + neutral + " so far",
                   true};
}

Verdict check_head_dim(int head_dim) {
  const auto value = value_text(head_dim);
  if (head_dim <= 0) return invalid("head_dim", value, "is not positive; give 8, 16, … 256");
  if (head_dim > 256) {
    return invalid("head_dim", value, "is above 256, the largest that a kernel exists for");
  }
  if (head_dim % 8 == 0) return std::nullopt;
  return invalid("head_dim", value,
                 "is not a multiple of 8; pad Q, K and V to " + value_text((head_dim + 7) / 8 * 8));
}

Verdict check_value_dim(const Variant& variant) {
  const auto value = value_text(variant.head_dim_v);
  if (variant.head_dim_v < 0) {
    return invalid("head_dim_v", value, "is negative; give 0 for the same as head_dim");
  }
  if (variant.head_dim_v == 0 || variant.head_dim_v == variant.head_dim) return std::nullopt;
  return unsupported("head_dim_v", value, "head_dim (" + value_text(variant.head_dim) + ")");
}

Verdict check_window(const std::string& field, int window) {
  if (window == -1) return std::nullopt;
  if (window < -1) {
    return invalid(field, value_text(window), "is negative; only -1 (unlimited) may be");
  }
  return unsupported(field, value_text(window), "-1 (unlimited)");
}

Verdict check_softcap(double softcap) {
  if (softcap == 0) return std::nullopt;
  if (!std::isfinite(softcap) || softcap < 0) {
    return invalid("softcap", value_text(softcap), "is not a positive number; give 0 for none");
  }
  return unsupported("softcap", value_text(softcap), "0 (none)");
}

/// The fields that exist so that they can be refused: any value but the neutral one.
Verdict check_later_features(const Variant& variant) {
  const auto refuse_unless = [](bool neutral, const char* field, const std::string& value,
                                const char* only) {
    return neutral ? Verdict{} : unsupported(field, value, only);
  };
  const Variant none{};
  const std::array verdicts{
      refuse_unless(!variant.bias, "bias", "true", "false"),
      refuse_unless(!variant.alibi, "alibi", "true", "false"),
      refuse_unless(!variant.sinks, "sinks", "true", "false"),
      refuse_unless(variant.score_snippet.empty(), "score_snippet",
                    "'" + value_text(variant.score_snippet) + "'", "'' (none)"),
      refuse_unless(variant.mask_snippet.empty(), "mask_snippet",
                    "'" + value_text(variant.mask_snippet) + "'", "'' (none)"),
      refuse_unless(variant.direction == none.direction, "direction", value_text(variant.direction),
                    "forward"),
      refuse_unless(variant.lengths == none.lengths, "lengths", value_text(variant.lengths),
                    "fixed"),
      refuse_unless(!variant.paged_kv, "paged_kv", "true", "false"),
      refuse_unless(!variant.batch_invariant, "batch_invariant", "true", "false")};
  const auto found = std::find_if(verdicts.begin(), verdicts.end(),
                                  [](const Verdict& verdict) { return verdict.has_value(); });
  return found == verdicts.end() ? std::nullopt : *found;
}

/// What belongs to 8-bit inputs.
Verdict check_scaled_inputs(const Variant& variant) {
  if (variant.dtype == DataType::kE4m3) {
    if (variant.output_dtype != DataType::kE4m3) return std::nullopt;
    return invalid("output_dtype", value_text(variant.output_dtype),
                   "is no type that O can have; give bf16 or fp16");
  }
  const Variant neutral{};
  const auto refuse_unless = [&](bool is_neutral, const char* field, const std::string& value) {
    if (is_neutral) return Verdict{};
    return invalid(
        field, value,
        "applies to e4m3 inputs only, not to " + value_text(variant.dtype) + "; leave it out");
  };
  if (auto verdict = refuse_unless(variant.output_dtype == neutral.output_dtype, "output_dtype",
                                   value_text(variant.output_dtype))) {
    return verdict;
  }
  if (auto verdict =
          refuse_unless(variant.scales == neutral.scales, "scales", value_text(variant.scales))) {
    return verdict;
  }
  return refuse_unless(variant.value_layout == neutral.value_layout, "value_layout",
                       value_text(variant.value_layout));
}

/// Rows of 8-bit elements are a whole number of 32-byte steps of the products.
Verdict check_scaled_head_dim(const Variant& variant) {
  if (variant.dtype != DataType::kE4m3 || variant.head_dim % 32 == 0) return std::nullopt;
  return invalid("head_dim", value_text(variant.head_dim),
                 "is not a multiple of 32, as e4m3 inputs want; pad Q, K and V to " +
                     value_text((variant.head_dim + 31) / 32 * 32));
}

Verdict check_alignment(int alignment) {
  const bool known = alignment == 16 || alignment == 8 || alignment == 4 || alignment == 2;
  if (known) return std::nullopt;
  return invalid("alignment", value_text(alignment), "is not one of 16, 8, 4 or 2 (bytes)");
}

Verdict check_counts(const Sizes& sizes) {
  const std::array counts{std::pair{"batch", sizes.batch}, std::pair{"heads", sizes.heads},
                          std::pair{"kv_heads", sizes.kv_heads},
                          std::pair{"seqlen_q", sizes.seqlen_q},
                          std::pair{"seqlen_kv", sizes.seqlen_kv}};
  for (const auto& [field, value] : counts) {
    if (value < 0) return invalid(field, value_text(value), "is negative; give 0 or more");
  }
  const int kv_heads = sizes.resolved_kv_heads();
  if (kv_heads == 0 || (sizes.heads % kv_heads == 0 && sizes.heads > 0)) return std::nullopt;
  return invalid("kv_heads", value_text(kv_heads),
                 "does not divide heads (" + value_text(sizes.heads) +
                     "); each key/value head serves the same number (1 or more) of query heads");
}

/// The kernels multiply by scale and by scale * log2(e) in fp32: both must be normal numbers there.
Verdict check_scale(double scale) {
  if (scale == 0) return std::nullopt;
  const auto value = value_text(scale);
  if (!std::isfinite(scale))
    return invalid("scale", value, "is not finite; give 0 for the default");
  if (scale < 0) {
    return invalid("scale", value, "is negative; negate Q instead, or give 0 for the default");
  }
  if (scale * std::numbers::log2e > static_cast<double>(FLT_MAX)) {
    return invalid("scale", value, "times log2(e) exceeds fp32; scale Q down instead");
  }
  if (scale < static_cast<double>(FLT_MIN)) {
    return invalid("scale", value, "is below the smallest normal fp32 number; scale Q up instead");
  }
  return std::nullopt;
}

Verdict check_splits(int num_splits) {
  const auto value = value_text(num_splits);
  if (num_splits < 0) return invalid("num_splits", value, "is negative; give 0 for automatic");
  if (num_splits <= kMaxSplits) return std::nullopt;
  return invalid("num_splits", value, "is above the limit of " + value_text(kMaxSplits));
}

Verdict check_sizes(const Sizes& sizes) {
  if (auto verdict = check_counts(sizes)) return verdict;
  if (auto verdict = check_scale(sizes.scale)) return verdict;
  return check_splits(sizes.num_splits);
}

}  // namespace

std::optional<Rejection> reject_variant(const Variant& variant) {
  if (auto verdict = check_head_dim(variant.head_dim)) return verdict;
  if (auto verdict = check_scaled_head_dim(variant)) return verdict;
  if (auto verdict = check_value_dim(variant)) return verdict;
  if (auto verdict = check_scaled_inputs(variant)) return verdict;
  if (auto verdict = check_alignment(variant.alignment)) return verdict;
  if (auto verdict = check_window("window_left", variant.window_left)) return verdict;
  if (auto verdict = check_window("window_right", variant.window_right)) return verdict;
  if (auto verdict = check_softcap(variant.softcap)) return verdict;
  return check_later_features(variant);
}

std::optional<Rejection> reject_problem(const Problem& problem) {
  if (auto verdict = reject_variant(problem.variant)) return verdict;
  if (auto verdict = check_sizes(problem.sizes)) return verdict;
  return reject_strides(problem);
}

}  // namespace heddle
