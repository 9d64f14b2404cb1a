#pragma once
// The numbers of a product of a warp: sixteen rows of its warpgroup's 64, read from shared memory
// or registers.

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
constexpr std::size_t kMostDepth = 32;

/// Sixteen rows of a product as matrices of numbers.
class ProductSlice {
 public:
  ProductSlice(std::size_t depth, std::size_t columns)
      : depth_(depth), columns_(columns), a_(kSliceRows * depth), b_(depth * columns) {}

  double& a(int row, int k) {
    return a_[static_cast<std::size_t>(row) * depth_ + static_cast<std::size_t>(k)];
  }
  double& b(int k, int column) {
    return b_[static_cast<std::size_t>(k) * columns_ + static_cast<std::size_t>(column)];
  }

  /// All sums of products.
  void sum() {
    sums_.assign(kSliceRows * columns_, 0.0);
    for (std::size_t row = 0; row < kSliceRows; ++row) {
      double* sums = &sums_[row * columns_];
      for (std::size_t k = 0; k < depth_; ++k) {
        const double factor = a_[row * depth_ + k];
        const double* factors = &b_[k * columns_];
        for (std::size_t column = 0; column < columns_; ++column) {
          sums[column] += factor * factors[column];
        }
      }
    }
  }
  double sum_at(int row, int column) const {
    return sums_[static_cast<std::size_t>(row) * columns_ + static_cast<std::size_t>(column)];
  }
  /// One element as 8-bit forms have it.
  float aligned(int row, int column, float before) {
    std::array<double, kMostDepth> terms;
    for (std::size_t k = 0; k < depth_; ++k) {
      terms[k] = a(row, static_cast<int>(k)) * b(static_cast<int>(k), column);
    }
    return aligned_sum(before, {terms.data(), depth_});
  }

 private:
  std::size_t depth_, columns_;
  std::vector<double> a_, b_, sums_;
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
