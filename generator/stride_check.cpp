#include "generator/stride_check.hpp"

#include <algorithm>
#include <array>
#include <climits>

#include "templates/warpgroup_layout.cuh"

namespace heddle {
namespace {

using Verdict = std::optional<Rejection>;

/// Partial results of a split run are fp32 and there may be 1024 of each, so O may have 2^51
/// elements.
constexpr long long kMaxOutputElements = LLONG_MAX / 4 / 1024;

struct Axis {
  std::string name;  ///< "query_strides.row"
  long long extent = 0;
  long long stride = 0;
};

struct Tensor {
  std::string name;
  Strides strides;
  long long batch = 0, heads = 0, rows = 0;
  int columns = 0;
  int element_bytes = 2;
  bool written = false;
};

/// false where the product or sum leaves 63 bits.
bool multiply(long long& value, long long by) {
  return !__builtin_mul_overflow(value, by, &value) && value >= 0;
}
bool add(long long& value, long long more) {
  return !__builtin_add_overflow(value, more, &value) && value >= 0;
}

Rejection too_large(const std::string& field, const std::string& what) {
  return {field, field + ": " + what + " reaches past 2^63 bytes; make the problem smaller", false};
}

/// Axes that are walked, outermost first. A stride along an extent of 1 is never multiplied by
/// anything but 0, and frameworks put any number there.
std::array<Axis, 3> axes_of(const Tensor& tensor, const Strides& strides) {
  const std::string prefix = tensor.name + "_strides.";
  return {Axis{prefix + "batch", tensor.batch, strides.batch},
          Axis{prefix + "head", tensor.heads, strides.head},
          Axis{prefix + "row", tensor.rows, strides.row}};
}

Verdict check_axis(const Axis& axis, const Tensor& tensor, const Variant& variant) {
  if (axis.extent <= 1) return std::nullopt;
  const std::string text = axis.name + ": " + value_text(axis.stride);
  if (axis.stride < 0) {
    return Rejection{axis.name, text + " is negative; point at the first element instead"};
  }
  if (tensor.written && axis.stride == 0) {
    return Rejection{axis.name, text +
                                    " makes rows of the output overlap; only Q, K and V may be "
                                    "broadcast with a stride of 0"};
  }
  const int step = variant.alignment / tensor.element_bytes;
  if (axis.stride % std::max(step, 1) == 0) return std::nullopt;
  return Rejection{axis.name, text + " elements is not a multiple of alignment (" +
                                  value_text(variant.alignment) +
                                  " bytes); state the smaller alignment, or pad the rows"};
}

/// Nested axes never overlap: each stride must step over all that the smaller ones reach.
Verdict check_overlap(std::array<Axis, 3> axes, int columns) {
  std::sort(axes.begin(), axes.end(),
            [](const Axis& a, const Axis& b) { return a.stride < b.stride; });
  long long reach = columns;
  for (const Axis& axis : axes) {
    if (axis.extent <= 1) continue;
    if (axis.stride < reach) {
      return Rejection{axis.name, axis.name + ": " + value_text(axis.stride) +
                                      " makes rows of the output overlap; it must be at least " +
                                      value_text(reach) + " elements"};
    }
    long long span = axis.stride;
    if (!multiply(span, axis.extent - 1) || !add(reach, span)) {
      return too_large(axis.name, "the output");
    }
  }
  return std::nullopt;
}

/// The last byte that a kernel may form the address of must be below 2^63.
Verdict check_reach(const std::array<Axis, 3>& axes, const Tensor& tensor) {
  long long reach = tensor.columns;
  for (const Axis& axis : axes) {
    if (axis.extent <= 1) continue;
    long long span = axis.stride;
    if (!multiply(span, axis.extent - 1) || !add(reach, span)) {
      return too_large(axis.name, tensor.name);
    }
  }
  if (multiply(reach, tensor.element_bytes)) return std::nullopt;
  return too_large(axes.back().name, tensor.name);
}

Verdict check_tensor(const Tensor& tensor, const Variant& variant) {
  const Strides strides = resolved_strides(tensor.strides, static_cast<int>(tensor.heads),
                                           static_cast<int>(tensor.rows), tensor.columns);
  const auto axes = axes_of(tensor, strides);
  for (const Axis& axis : axes) {
    if (auto verdict = check_axis(axis, tensor, variant)) return verdict;
  }
  if (tensor.written) {
    if (auto verdict = check_overlap(axes, tensor.columns)) return verdict;
  }
  return check_reach(axes, tensor);
}

Verdict check_elements(const char* field, std::array<long long, 4> extents, long long limit) {
  long long elements = 1;
  for (const long long extent : extents) {
    if (!multiply(elements, extent) || elements > limit) return too_large(field, "the tensor");
  }
  return std::nullopt;
}

}  // namespace

std::optional<Rejection> reject_strides(const Problem& problem) {
  const Sizes& sizes = problem.sizes;
  if (is_empty(sizes)) return std::nullopt;
  const int kv_heads = sizes.resolved_kv_heads();
  const int head_dim = problem.variant.head_dim;
  // First, so that the contiguous defaults below cannot overflow.
  if (auto verdict = check_elements(
          "seqlen_q", {sizes.batch, sizes.heads, sizes.seqlen_q, head_dim}, kMaxOutputElements)) {
    return verdict;
  }
  if (auto verdict = check_elements("seqlen_kv", {sizes.batch, kv_heads, sizes.seqlen_kv, head_dim},
                                    kMaxOutputElements)) {
    return verdict;
  }
  if (problem.variant.value_layout == ValueLayout::kTransposed &&
      sizes.seqlen_kv > INT_MAX - kKeyGroup) {
    return too_large("seqlen_kv",
                     "V, transposed in whole groups of " + value_text(kKeyGroup) + " keys,");
  }
  const MatrixExtent value = value_extent(problem);
  const int in = element_bytes(problem.variant.dtype);
  const int out = element_bytes(output_type(problem.variant));
  const std::array tensors{
      Tensor{"query", sizes.query_strides, sizes.batch, sizes.heads, sizes.seqlen_q, head_dim, in},
      Tensor{"key", sizes.key_strides, sizes.batch, kv_heads, sizes.seqlen_kv, head_dim, in},
      Tensor{"value", sizes.value_strides, sizes.batch, kv_heads, value.rows, value.columns, in},
      Tensor{"output", sizes.output_strides, sizes.batch, sizes.heads, sizes.seqlen_q, head_dim,
             out, true}};
  for (const Tensor& tensor : tensors) {
    if (auto verdict = check_tensor(tensor, problem.variant)) return verdict;
  }
  return std::nullopt;
}

}  // namespace heddle
