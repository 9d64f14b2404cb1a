#pragma once
// Where the elements of a [batch, head, row, column] tensor lie in memory.

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "generator/problem.hpp"

namespace heddle {

struct TensorShape {
  int batch = 0;
  int heads = 0;
  int rows = 0;
  int columns = 0;
  std::size_t elements() const;
};

TensorShape query_shape(const Problem& problem);      ///< also O's
TensorShape key_value_shape(const Problem& problem);  ///< K's and V's, V's by rows
TensorShape value_shape(const Problem& problem);      ///< V's as its value_layout has it

enum class Layout {
  kBatchHeadRow,    ///< [b, h, s, d], contiguous
  kBatchRowHead,    ///< [b, s, h, d]
  kEverySecondRow,  ///< every second row of a [b, h, 2s, d] buffer
  kOddPitch,        ///< rows one element further apart than they are wide: alignment 2
};
template <>
struct EnumNames<Layout> {
  static constexpr std::array names{
      std::pair{Layout::kBatchHeadRow, std::string_view("bhsd")},
      std::pair{Layout::kBatchRowHead, std::string_view("bshd")},
      std::pair{Layout::kEverySecondRow, std::string_view("every_second_row")},
      std::pair{Layout::kOddPitch, std::string_view("odd_pitch")}};
};

Strides layout_strides(Layout layout, const TensorShape& shape);
/// The strides a tensor really has: the contiguous ones where none are given.
Strides effective_strides(const Strides& strides, const TensorShape& shape);

/// Elements from the first to the last one touched, inclusive; 0 for an empty tensor.
std::size_t storage_elements(const Strides& strides, const TensorShape& shape);

/// Bytes (16, 8, 4 or 2) that divide every stride of the problem's tensors: the variant's alignment
/// when base addresses are aligned to 16.
int stride_alignment(const Problem& problem);

/// Contiguous elements spread out by strides; the gaps hold NaN, so that reading one shows.
std::vector<std::uint16_t> scatter(const std::vector<std::uint16_t>& contiguous,
                                   const Strides& strides, const TensorShape& shape);
/// The inverse of scatter.
std::vector<std::uint16_t> gather(const std::vector<std::uint16_t>& storage, const Strides& strides,
                                  const TensorShape& shape);

/// V's storage with zeros in the places past the last key of a transposed layout.
std::vector<std::uint16_t> clear_value_padding(const Problem& problem,
                                               std::vector<std::uint16_t> storage);
/// Contiguous rows of V in the order of the problem's value_layout; zeros where it pads.
std::vector<std::uint16_t> lay_out_values(const Problem& problem,
                                          const std::vector<std::uint16_t>& rows);

}  // namespace heddle
