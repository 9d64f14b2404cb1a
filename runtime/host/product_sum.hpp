#pragma once
// How tensor cores add: what is exact, what is cut.

#include <cmath>
#include <span>

#include "runtime/host/device/host_calls.cuh"
#include "runtime/host/device/host_round.cuh"

namespace heddle {

/// Which elements a multiplication takes.
struct ElementFormat {
  int bytes = 2;   ///< of an element
  int depth = 16;  ///< of one instruction
};
ElementFormat element_format(host::WarpOperation operation);

/// The value of an element; `bits` beyond it do not matter.
inline float element_value(unsigned bits, host::WarpOperation operation) {
  if (operation == host::WarpOperation::kMultiplyBFloat16) {
    return host::bf16_value(static_cast<unsigned short>(bits));
  }
  return operation == host::WarpOperation::kMultiplyHalf
             ? host::fp16_value(static_cast<unsigned short>(bits))
             : host::e4m3_value(static_cast<unsigned char>(bits));
}

/// A double as fp32, cut towards zero.
inline float towards_zero(double value) {
  if (std::isnan(value)) return host::bits_float(0x7fffffffu);
  const auto nearest = static_cast<float>(value);
  const bool beyond = std::fabs(static_cast<double>(nearest)) > std::fabs(value);
  // One pattern less is one step towards zero; an infinity that stands for a number, too.
  return beyond ? host::bits_float(host::float_bits(nearest) - 1) : nearest;
}

/// The power of two of a number's leading bit; 0 for 0.
double leading_power(double value);

/// Bits below the leading one of the largest term that a sum keeps of each term.
constexpr int kKeptBits = 25;
constexpr int kKeptBits8 = 13;  ///< wgmma on 8-bit elements

/// addend + sum of a[k] * b[k], as tensor cores add: each term is cut, towards zero, to as many
/// bits below the largest term's leading one, the sum of what is left is exact and is cut to fp32,
/// or to as many bits below its own leading one where that is fewer. A product's power of two is
/// that of its factors, even where its mantissa passes 2. On an H200 every one of 81920 such sums
/// of 16-bit elements was this to the bit.
class AlignedSum {
 public:
  AlignedSum(int kept_bits, std::size_t depth);

  /// `a_powers` and `b_powers` are the leading_power() of each factor.
  float operator()(float addend, const double* a, const double* a_powers, const double* b,
                   const double* b_powers) const;

 private:
  std::size_t depth_;
  double kept_;  ///< 2 to the bits kept below the leading one
};

}  // namespace heddle
