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

/// addend + sum of products by wgmma on 8-bit elements: each term is cut to a multiple of 2^-13 of
/// the largest one's power of two, and the rest is exact.
float aligned_sum(float addend, std::span<const double> products);

/// By all other forms: exact, then cut to fp32.
inline float exact_sum(float addend, double products) {
  return towards_zero(static_cast<double>(addend) + products);
}

}  // namespace heddle
