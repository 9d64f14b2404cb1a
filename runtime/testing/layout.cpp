#include "runtime/testing/layout.hpp"

#include <algorithm>
#include <numeric>

namespace heddle {
namespace {

constexpr std::uint16_t kGapBits = 0x7fff;  // NaN in fp16 and in bf16

/// Calls visit(storage_offset, contiguous_offset) with the first element of each row.
template <class Visit>
void for_each_row(const Strides& strides, const TensorShape& shape, Visit&& visit) {
  std::size_t contiguous = 0;
  for (int batch = 0; batch < shape.batch; ++batch) {
    for (int head = 0; head < shape.heads; ++head) {
      const long long base = batch * strides.batch + head * strides.head;
      for (int row = 0; row < shape.rows; ++row, contiguous += shape.columns) {
        visit(static_cast<std::size_t>(base + row * strides.row), contiguous);
      }
    }
  }
}

}  // namespace

std::size_t TensorShape::elements() const {
  return static_cast<std::size_t>(batch) * heads * rows * columns;
}

TensorShape query_shape(const Problem& problem) {
  const Sizes& sizes = problem.sizes;
  return {sizes.batch, sizes.heads, sizes.seqlen_q, problem.variant.head_dim};
}

TensorShape key_value_shape(const Problem& problem) {
  const Sizes& sizes = problem.sizes;
  return {sizes.batch, sizes.resolved_kv_heads(), sizes.seqlen_kv, problem.variant.head_dim};
}

Strides layout_strides(Layout layout, const TensorShape& shape) {
  const long long heads = shape.heads;
  const long long rows = shape.rows;
  const long long columns = shape.columns;
  switch (layout) {
    case Layout::kBatchHeadRow:
      break;
    case Layout::kBatchRowHead:
      return {rows * heads * columns, columns, heads * columns};
    case Layout::kEverySecondRow:
      return {heads * 2 * rows * columns, 2 * rows * columns, 2 * columns};
    case Layout::kOddPitch:
      return {heads * rows * (columns + 1), rows * (columns + 1), columns + 1};
  }
  return {heads * rows * columns, rows * columns, columns};
}

Strides effective_strides(const Strides& strides, const TensorShape& shape) {
  return resolved_strides(strides, shape.heads, shape.rows, shape.columns);
}

std::size_t storage_elements(const Strides& strides, const TensorShape& shape) {
  if (shape.elements() == 0) return 0;
  const Strides actual = effective_strides(strides, shape);
  return static_cast<std::size_t>((shape.batch - 1) * actual.batch +
                                  (shape.heads - 1) * actual.head + (shape.rows - 1) * actual.row +
                                  shape.columns);
}

int stride_alignment(const Problem& problem) {
  const Sizes& sizes = problem.sizes;
  const TensorShape queries = query_shape(problem);
  const TensorShape keys = key_value_shape(problem);
  long long divisor = 16 / element_bytes(problem.variant.dtype);
  for (const Strides& strides :
       {effective_strides(sizes.query_strides, queries), effective_strides(sizes.key_strides, keys),
        effective_strides(sizes.value_strides, keys),
        effective_strides(sizes.output_strides, queries)}) {
    divisor = std::gcd(std::gcd(divisor, strides.batch), std::gcd(strides.head, strides.row));
  }
  return static_cast<int>(divisor) * element_bytes(problem.variant.dtype);
}

std::vector<std::uint16_t> scatter(const std::vector<std::uint16_t>& contiguous,
                                   const Strides& strides, const TensorShape& shape) {
  const Strides actual = effective_strides(strides, shape);
  std::vector<std::uint16_t> storage(storage_elements(strides, shape), kGapBits);
  for_each_row(actual, shape, [&](std::size_t to, std::size_t from) {
    std::copy_n(contiguous.begin() + from, shape.columns, storage.begin() + to);
  });
  return storage;
}

std::vector<std::uint16_t> gather(const std::vector<std::uint16_t>& storage, const Strides& strides,
                                  const TensorShape& shape) {
  const Strides actual = effective_strides(strides, shape);
  std::vector<std::uint16_t> contiguous(shape.elements());
  for_each_row(actual, shape, [&](std::size_t from, std::size_t to) {
    std::copy_n(storage.begin() + from, shape.columns, contiguous.begin() + to);
  });
  return contiguous;
}

}  // namespace heddle
