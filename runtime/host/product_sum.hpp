#pragma once
// How tensor cores add: what is exact, what is cut.

#include <span>

#include "runtime/host/device/host_calls.cuh"

namespace heddle {

/// Which elements a multiplication takes.
struct ElementFormat {
  int bytes = 2;   ///< of an element
  int depth = 16;  ///< of one instruction
};
ElementFormat element_format(host::WarpOperation operation);

/// The value of an element; `bits` beyond it do not matter.
float element_value(unsigned bits, host::WarpOperation operation);

/// A double as fp32, cut towards zero.
float towards_zero(double value);

/// addend + sum of products by wgmma on 8-bit elements: each term is cut to a multiple of 2^-13 of
/// the largest one's power of two, and the rest is exact.
float aligned_sum(float addend, std::span<const double> products);

/// By all other forms: exact, then cut to fp32.
inline float exact_sum(float addend, double products) {
  return towards_zero(static_cast<double>(addend) + products);
}

}  // namespace heddle
