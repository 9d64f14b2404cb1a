#include "runtime/testing/layout.hpp"

#include <algorithm>
#include <numeric>

#include "templates/wgmma_fragment.cuh"

namespace heddle {
namespace {

constexpr std::uint16_t kGapBits = 0x7fff;  // NaN in fp16, in bf16 and, the low byte, in e4m3

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

TensorShape value_shape(const Problem& problem) {
  const Sizes& sizes = problem.sizes;
  const MatrixExtent extent = value_extent(problem);
  return {sizes.batch, sizes.resolved_kv_heads(), extent.rows, extent.columns};
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
  const Variant& variant = problem.variant;
  long long divisor = 16;
  const auto meet = [&divisor](const Strides& strides, const TensorShape& shape, DataType type) {
    const Strides actual = effective_strides(strides, shape);
    const long long elements =
        std::gcd(std::gcd(actual.batch, actual.head), std::gcd(actual.row, 16LL));
    divisor = std::gcd(divisor, elements * element_bytes(type));
  };
  meet(sizes.query_strides, query_shape(problem), variant.dtype);
  meet(sizes.key_strides, key_value_shape(problem), variant.dtype);
  meet(sizes.value_strides, value_shape(problem), variant.dtype);
  meet(sizes.output_strides, query_shape(problem), output_type(variant));
  return static_cast<int>(divisor);
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

std::vector<std::uint16_t> clear_value_padding(const Problem& problem,
                                               std::vector<std::uint16_t> storage) {
  if (problem.variant.value_layout == ValueLayout::kRows) return storage;
  const TensorShape shape = value_shape(problem);
  for_each_row(effective_strides(problem.sizes.value_strides, shape), shape,
               [&](std::size_t row, std::size_t) {
                 for (int position = 0; position < shape.columns; ++position) {
                   if (wgmma_8bit_key(position) >= problem.sizes.seqlen_kv) {
                     storage[row + static_cast<std::size_t>(position)] = 0;
                   }
                 }
               });
  return storage;
}

std::vector<std::uint16_t> lay_out_values(const Problem& problem,
                                          const std::vector<std::uint16_t>& rows) {
  if (problem.variant.value_layout == ValueLayout::kRows) return rows;
  const TensorShape from = key_value_shape(problem);
  const TensorShape to = value_shape(problem);
  std::vector<std::uint16_t> transposed(to.elements());
  const std::size_t heads = static_cast<std::size_t>(to.batch) * to.heads;
  for (std::size_t head = 0; head < heads; ++head) {
    for (int column = 0; column < to.rows; ++column) {
      for (int position = 0; position < to.columns; ++position) {
        const int key = wgmma_8bit_key(position);
        if (key >= from.rows) continue;
        transposed[(head * to.rows + column) * to.columns + position] =
            rows[(head * from.rows + key) * from.columns + column];
      }
    }
  }
  return transposed;
}

}  // namespace heddle
