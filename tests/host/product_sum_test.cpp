// How a tensor core adds, by hand: what it cuts from each term, and from the sum.
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "runtime/host/product_sum.hpp"

namespace heddle {
namespace {

constexpr std::size_t kDepth = 16;

/// `addend` + first_a * first_b + the other products, which are all `other`.
float sum(float addend, double first_a, double first_b, double other, int kept_bits = kKeptBits) {
  std::array<double, kDepth> a, b, a_powers, b_powers;
  a.fill(other), b.fill(1.0);
  a[0] = first_a, b[0] = first_b;
  for (std::size_t k = 0; k < kDepth; ++k) {
    a_powers[k] = leading_power(a[k]), b_powers[k] = leading_power(b[k]);
  }
  return AlignedSum(kept_bits, kDepth)(addend, a.data(), a_powers.data(), b.data(),
                                       b_powers.data());
}

}  // namespace

TEST_CASE("terms below 2^-25 of the largest are nothing, however many") {
  CHECK(sum(0, 1, 1, 0x1p-26) == 1.0f);
  CHECK(sum(0, 1, 1, 0x1.fp-26) == 1.0f);
  CHECK(sum(0, 1, 1, -0x1.fp-26) == 1.0f);
  CHECK(sum(1, 0, 0, 0x1p-26) == 1.0f);  // the accumulator is a term as the others are
}

TEST_CASE("terms from 2^-25 on are added exactly, and the sum is cut to fp32") {
  constexpr float kUnit = 0x1p-23f;  // 15 * 2^-25 is 3.75 of it
  CHECK(sum(0, 1, 1, 0x1p-25) == 1.0f + 3 * kUnit);
  CHECK(sum(0, 1, 1, 0x1.8p-25) == 1.0f + 3 * kUnit);  // each is cut to 2^-25
  CHECK(sum(0, 1, 1, -0x1p-25) == 1.0f - 4 * kUnit);   // towards zero
  CHECK(sum(1, 0, 0, 0x1p-25) == 1.0f + 3 * kUnit);
}

TEST_CASE("a product's exponent is the sum of its factors', also where it passes 2") {
  // 1.5 * 1.5 = 2.25: terms of 2^-25 still count, and 15 of them are 1.875 units of 2^-22.
  CHECK(sum(0, 1.5, 1.5, 0x1p-25) == 2.25f + 0x1p-22f);
  CHECK(sum(0, 1.5, 1.5, 0x1.1p-24) == 2.25f + 0x1p-22f * 3);
  CHECK(sum(2.25f, 0, 0, 0x1.8p-25) == 2.25f);  // the accumulator's is its own: 2
}

TEST_CASE("wgmma keeps 13 bits of 8-bit elements") {
  CHECK(sum(0, 1, 1, 0x1p-14, kKeptBits8) == 1.0f);
  CHECK(sum(0, 1, 1, 0x1p-13, kKeptBits8) == 1.0f + 15 * 0x1p-13f);
}

TEST_CASE("wgmma cuts sums of 8-bit products at 2^-13 of their own leading bit") {
  // 1 + 15 * 0.125 = 2.875, beyond which 2^-12 is the least.
  constexpr double kOther = 0.125 + 0x1p-13;
  CHECK(sum(0, 1, 1, kOther, kKeptBits8) == 2.875f + 7 * 0x1p-12f);
  CHECK(sum(0, -1, 1, -kOther, kKeptBits8) == -2.875f - 7 * 0x1p-12f);
}

TEST_CASE("what is not finite stays so, and nothing is zero") {
  const double infinity = std::numeric_limits<double>::infinity();
  CHECK(sum(0, infinity, 1, 1) == std::numeric_limits<float>::infinity());
  CHECK(std::isnan(sum(0, infinity, 0, 1)));
  CHECK(std::isnan(sum(0, infinity, 1, -infinity)));
  CHECK(sum(0, 0, 0, 0) == 0.0f);
}

}  // namespace heddle
