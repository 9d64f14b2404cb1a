#include "runtime/host/product_sum.hpp"

#include <algorithm>
#include <cmath>

namespace heddle {
namespace {

constexpr int kKeptBits = 13;  ///< below the leading one of the largest term

}  // namespace

ElementFormat element_format(host::WarpOperation operation) {
  if (operation == host::WarpOperation::kMultiplyE4m3) return {1, 32};
  return {2, 16};
}

float aligned_sum(float addend, std::span<const double> products) {
  double largest = std::fabs(static_cast<double>(addend));
  double plain = addend;
  for (const double product : products) {
    largest = std::max(largest, std::fabs(product));
    plain += product;
  }
  if (!std::isfinite(plain)) return towards_zero(plain);
  if (largest == 0.0) return 0.0f;
  const double quantum = std::ldexp(1.0, std::ilogb(largest) - kKeptBits);
  const double scale = 1.0 / quantum;
  double sum = std::trunc(addend * scale);
  for (const double product : products) sum += std::trunc(product * scale);
  return towards_zero(sum * quantum);
}

}  // namespace heddle
