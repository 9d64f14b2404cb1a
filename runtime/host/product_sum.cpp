#include "runtime/host/product_sum.hpp"

#include <algorithm>
#include <cmath>

namespace heddle {
ElementFormat element_format(host::WarpOperation operation) {
  if (operation == host::WarpOperation::kMultiplyE4m3) return {1, 32};
  return {2, 16};
}

double leading_power(double value) {
  if (value == 0.0 || !std::isfinite(value)) return 0.0;
  return std::ldexp(1.0, std::ilogb(value));
}

namespace {

/// Towards zero, at 1 / `kept` of the leading bit: beyond fp32's own bits it does nothing.
double cut_to(double kept, double value) {
  const double unit = leading_power(value) / kept;
  return unit == 0.0 ? value : std::trunc(value / unit) * unit;
}

}  // namespace

AlignedSum::AlignedSum(int kept_bits, std::size_t depth)
    : depth_(depth), kept_(std::ldexp(1.0, kept_bits)) {}

float AlignedSum::operator()(float addend, const double* a, const double* a_powers, const double* b,
                             const double* b_powers) const {
  double largest = leading_power(static_cast<double>(addend));
  double plain = static_cast<double>(addend);
  for (std::size_t k = 0; k < depth_; ++k) {
    largest = std::max(largest, a_powers[k] * b_powers[k]);
    plain += a[k] * b[k];
  }
  if (largest == 0.0 || !std::isfinite(plain)) return towards_zero(plain);
  const double scale = kept_ / largest;
  // Below 2^27 in magnitude, so that an int holds each term: the conversion cuts it.
  double sum = static_cast<int>(static_cast<double>(addend) * scale);
  for (std::size_t k = 0; k < depth_; ++k) sum += static_cast<int>(a[k] * b[k] * scale);
  return towards_zero(cut_to(kept_, sum / scale));
}

}  // namespace heddle
