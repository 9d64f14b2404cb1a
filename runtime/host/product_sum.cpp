#include "runtime/host/product_sum.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/host/device/host_round.cuh"

namespace heddle {
namespace {

constexpr int kKeptBits = 13;  ///< below the leading one of the largest term

}  // namespace

ElementFormat element_format(host::WarpOperation operation) {
  if (operation == host::WarpOperation::kMultiplyE4m3) return {1, 32};
  return {2, 16};
}

float element_value(unsigned bits, host::WarpOperation operation) {
  switch (operation) {
    case host::WarpOperation::kMultiplyE4m3:
      return host::e4m3_value(static_cast<unsigned char>(bits));
    case host::WarpOperation::kMultiplyHalf:
      return host::fp16_value(static_cast<unsigned short>(bits));
    default:
      return host::bf16_value(static_cast<unsigned short>(bits));
  }
}

float towards_zero(double value) {
  if (std::isnan(value)) return host::bits_float(0x7fffffffu);
  const auto nearest = static_cast<float>(value);
  if (std::isinf(value) || std::fabs(static_cast<double>(nearest)) <= std::fabs(value)) {
    return nearest;
  }
  return std::nextafter(nearest, 0.0f);
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
