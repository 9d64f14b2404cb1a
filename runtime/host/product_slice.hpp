#pragma once
// The numbers of a product of a warp: sixteen rows of its warpgroup's 64, read from shared memory
// or registers.

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "runtime/host/access_check.hpp"
#include "runtime/host/matrix_operand.hpp"
#include "runtime/host/product_sum.hpp"
#include "templates/wgmma_fragment.cuh"

namespace heddle {

constexpr int kSliceRows = 16;
constexpr int kOperandRegisters = 4;

/// Sixteen rows of a product as matrices of numbers.
class ProductSlice {
 public:
  ProductSlice(host::WarpOperation operation, std::size_t columns, int kept_bits)
      : depth_(static_cast<std::size_t>(element_format(operation).depth)),
        sum_(kept_bits, depth_),
        a_(kSliceRows * depth_),
        b_(columns * depth_) {}

  double& a(int row, int k) { return a_[at(row, k)]; }
  double& b(int k, int column) { return b_[at(column, k)]; }

  /// Once all numbers are in place.
  void prepare() {
    a_powers_ = powers(a_);
    b_powers_ = powers(b_);
  }
  /// before + the sum of products of one element.
  float sum(int row, int column, float before) const {
    const std::size_t a = at(row, 0), b = at(column, 0);
    return sum_(before, &a_[a], &a_powers_[a], &b_[b], &b_powers_[b]);
  }

 private:
  /// Both matrices are stored along the depth.
  std::size_t at(int line, int k) const {
    return static_cast<std::size_t>(line) * depth_ + static_cast<std::size_t>(k);
  }
  static std::vector<double> powers(const std::vector<double>& numbers) {
    std::vector<double> result(numbers.size());
    std::transform(numbers.begin(), numbers.end(), result.begin(), leading_power);
    return result;
  }

  std::size_t depth_;
  AlignedSum sum_;
  std::vector<double> a_, b_, a_powers_, b_powers_;
};

/// Calls `store(row, depth, value)` for what the chunks of an operand hold.
template <class Store>
void read_chunks(const AccessCheck& check, const OperandSlice& slice, host::WarpOperation element,
                 Store store) {
  const ElementFormat format = element_format(element);
  const int per_chunk = 16 / format.bytes;
  const std::vector<unsigned> chunks = operand_chunks(slice);
  const auto chunks_a_depth = static_cast<std::size_t>(slice.rows / 8);
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    const unsigned char* bytes = check.shared(chunks[i] - kSharedBase);
    for (int j = 0; j < per_chunk; ++j) {
      unsigned bits = 0;
      std::memcpy(&bits, bytes + j * format.bytes, static_cast<std::size_t>(format.bytes));
      const double value = element_value(bits, element);
      const auto at = static_cast<int>(i);
      if (slice.transposed) {
        store(8 * static_cast<int>(i % chunks_a_depth) + j, static_cast<int>(i / chunks_a_depth),
              value);
      } else {
        store(at / 2, at % 2 * per_chunk + j, value);
      }
    }
  }
}

/// The same from the registers of a warp's lanes.
template <class Store>
void read_registers(const std::vector<std::array<unsigned, 4>>& lanes, host::WarpOperation element,
                    Store store) {
  const bool narrow = element_format(element).bytes == 1;
  const int parts = narrow ? 4 : 2;
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < kOperandRegisters; ++i) {
      const unsigned packed = lanes[static_cast<std::size_t>(lane)][static_cast<std::size_t>(i)];
      for (int part = 0; part < parts; ++part) {
        const MatrixPlace place = narrow ? wgmma_operand_place_8bit(lane, i, part)
                                         : wgmma_operand_place_16bit(lane, i, part);
        store(place.row, place.column, element_value(packed >> (32 / parts * part), element));
      }
    }
  }
}

}  // namespace heddle
