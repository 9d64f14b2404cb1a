// What tensor cores cut from large dot products, by the model of runtime/host/product_sum.hpp, and
// what templates/layout.cuh puts back for it.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

#include "generator/problem.hpp"
#include "runtime/host/product_sum.hpp"
#include "runtime/testing/element.hpp"
#include "templates/layout.cuh"

namespace heddle {
namespace {

constexpr std::size_t kStep = 16;
constexpr int kSamples = 4000;
constexpr double kLargeTerm = 450;  ///< 40 / scale at head_dim 128: where logits rise

enum class Growth { kEven, kFirstTerm };

class DotProducts {
 public:
  DotProducts(DataType dtype, Growth growth) : dtype_(dtype), growth_(growth), random_(17) {}

  /// How much a chain over `depth` is too small, in 2^-23 of it, on average.
  double mean_loss(std::size_t depth) {
    double total = 0;
    for (int i = 0; i < kSamples; ++i) total += loss(depth);
    return total / kSamples;
  }

 private:
  double number(double factor) {
    const double value = factor * normal_(random_);
    const auto bits = element_from_float(dtype_, static_cast<float>(value));
    return static_cast<double>(element_to_float(dtype_, bits));
  }

  double loss(std::size_t depth) {
    std::vector<double> a(depth), b(depth), a_powers(depth), b_powers(depth);
    double exact = 0;
    for (std::size_t k = 0; k < depth; ++k) {
      a[k] = number(growth_ == Growth::kEven ? 8 : 1), b[k] = number(1);
      // The largest logits of a row are those whose terms mostly agree in sign.
      if (growth_ == Growth::kEven && a[k] * b[k] < 0 && random_() % 2 == 0) b[k] = -b[k];
      if (growth_ == Growth::kFirstTerm && k == 0) a[k] = kLargeTerm, b[k] = 1;
      a_powers[k] = leading_power(a[k]), b_powers[k] = leading_power(b[k]);
      exact += a[k] * b[k];
    }
    const AlignedSum sum(kKeptBits, kStep);
    float chain = 0;
    for (std::size_t k = 0; k < depth; k += kStep) {
      chain = sum(chain, &a[k], &a_powers[k], &b[k], &b_powers[k]);
    }
    return (exact - static_cast<double>(chain)) / exact * 0x1p23;
  }

  DataType dtype_;
  Growth growth_;
  std::mt19937 random_;
  std::normal_distribution<double> normal_;
};

}  // namespace

TEST_CASE("what is put back is part of what either kind of large sum loses on average") {
  for (const DataType dtype : {DataType::kFp16, DataType::kBf16}) {
    for (const int depth : {16, 32, 64, 96, 128}) {
      const double even = DotProducts(dtype, Growth::kEven).mean_loss(depth);
      const double first = DotProducts(dtype, Growth::kFirstTerm).mean_loss(depth);
      const double put_back = 0x1p23 * static_cast<double>(chain_truncation(depth));
      std::printf("%s depth %3d: even %.2f, first term %.2f, put back %.2f (2^-23)\n",
                  std::string(enum_name(dtype)).c_str(), depth, even, first, put_back);
      INFO(enum_name(dtype) << ", depth " << depth);
      CHECK(put_back < std::max(even, first));
      // layout.cuh's words: 0.08 to 0.4 a step.
      const double steps = depth / 16.0;
      for (const double lost : {even, first}) {
        CHECK(lost > 0.08 * steps);
        CHECK(lost < 0.4 * steps);
      }
    }
  }
}

}  // namespace heddle
