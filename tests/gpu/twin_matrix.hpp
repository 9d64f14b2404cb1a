#pragma once
// What the cases of mma.sync and wgmma share: element types, operands, bounds.

#include "tests/gpu/twin_case.hpp"

namespace heddle {

/// Integers and single terms have exact sums.
enum class MatrixNumbers { kIntegers, kOneTerm, kRandom };

struct MatrixFormat {
  DataType dtype;
  int bytes;  ///< of an element
  int depth() const { return 32 / bytes; }
};

constexpr int kOperandBytes = 8192;  ///< of shared memory for each operand of a wgmma

/// The value of an element; `bits` beyond it do not matter.
double value_of(unsigned bits, const MatrixFormat& format);
double element_at(const Bytes& bytes, std::size_t byte, const MatrixFormat& format);

/// `count` elements, packed. kOneTerm: those at depth 5 of `depth_of(index)` alone.
Bytes matrix_elements(const MatrixFormat& format, MatrixNumbers numbers, std::size_t count,
                      unsigned seed, const std::function<std::size_t(std::size_t)>& depth_of);
void append(Bytes& bytes, const Bytes& more);

/// A kernel of matrix.cu; a wgmma where it has 128 threads.
TwinCase make_matrix_case(const MatrixFormat& format, MatrixNumbers numbers,
                          const std::string& entry, int threads);

void add_mma(std::vector<TwinCase>& cases, const MatrixFormat& format, MatrixNumbers numbers);

}  // namespace heddle
