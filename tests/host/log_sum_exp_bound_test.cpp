// The log-sum-exp of rows whose logits tensor cores have summed, by the model of their sums and
// with the kernels' own last step, against the contract's bound. The kernels themselves meet it in
// host_suite_test; here rows are cheap enough to look for the worst of thousands.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <random>
#include <vector>

#include "generator/problem.hpp"
#include "runtime/host/product_sum.hpp"
#include "runtime/testing/element.hpp"
#include "templates/part/log_sum_exp.cuh"

namespace heddle {
namespace {

constexpr std::size_t kStep = 16;
constexpr int kRows = 3000;
constexpr int kKeys = 64;
constexpr int kFewKeys = 16;
constexpr int kSharedRows = 32;  ///< rows that meet the same keys
constexpr double kRise = 40;     ///< from the first key to the last

enum class Logits { kRising, kLarge };

/// Numbers of an element type, with what the model of the tensor core wants to know of them.
struct Operand {
  std::vector<double> value, power;

  template <class Next>
  Operand(DataType dtype, int depth, Next next) : value(static_cast<std::size_t>(depth)) {
    for (int i = 0; i < depth; ++i) {
      const auto bits = element_from_float(dtype, static_cast<float>(next(i)));
      value[static_cast<std::size_t>(i)] = static_cast<double>(element_to_float(dtype, bits));
    }
    for (const double number : value) power.push_back(leading_power(number));
  }
};

/// As the launch plan has it.
struct Scale {
  double exact;
  float log2;
  float excess;

  explicit Scale(int depth) : exact(1 / std::sqrt(depth)) {
    const double scale_log2 = exact * std::numbers::log2e;
    log2 = static_cast<float>(scale_log2);
    excess = static_cast<float>((static_cast<double>(log2) - scale_log2) / scale_log2);
  }
};

double allowed_error(double largest_logit) {
  return 1e-5 + 4 * std::ldexp(1, std::ilogb(largest_logit) - 23);
}

/// A row's scores, exact and as a kernel has them.
struct Row {
  std::vector<double> exact;
  std::vector<float> summed;

  /// The kernel's error over the bound.
  double error(const Scale& scale, float truncation) const {
    const double largest = *std::max_element(exact.begin(), exact.end());
    const float reference = scale.log2 * *std::max_element(summed.begin(), summed.end());
    double exact_sum = 0, largest_logit = 0;
    float sum = 0;
    for (std::size_t key = 0; key < exact.size(); ++key) {
      exact_sum += std::exp((exact[key] - largest) * scale.exact);
      largest_logit = std::max(largest_logit, std::abs(exact[key]) * scale.exact);
      sum += fast_exp2(multiply_add(summed[key], scale.log2, -reference));
    }
    const float actual = log_sum_exp(reference, sum, scale.excess - truncation);
    const double expected = largest * scale.exact + std::log(exact_sum);
    return (static_cast<double>(actual) - expected) / allowed_error(largest_logit);
  }
};

double exact_product(const Operand& a, const Operand& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.value.size(); ++i) sum += a.value[i] * b.value[i];
  return sum;
}

/// Chains of `chain` of depth, added in fp32.
float summed_product(const Operand& a, const Operand& b, int chain) {
  static const AlignedSum step(kKeptBits, kStep);
  const auto depth = a.value.size();
  float sum = 0;
  for (std::size_t first = 0; first < depth; first += static_cast<std::size_t>(chain)) {
    const std::size_t end = std::min(depth, first + static_cast<std::size_t>(chain));
    float part = 0;
    for (std::size_t i = first; i < end; i += kStep) {
      part = step(part, &a.value[i], &a.power[i], &b.value[i], &b.power[i]);
    }
    sum += part;
  }
  return sum;
}

/// The largest of kRows errors over their bounds.
double worst_error(DataType dtype, Logits logits, int depth, int chain, int key_count = kKeys) {
  std::mt19937 random(23);
  std::normal_distribution<double> normal;
  const Scale scale(depth);
  const bool rising = logits == Logits::kRising;
  std::vector<Operand> keys;
  double worst = 0;
  for (int i = 0; i < kRows; ++i) {
    if (i % kSharedRows == 0) {
      keys.clear();
      for (int key = 0; key < key_count; ++key) {
        keys.emplace_back(dtype, depth, [&](int column) {
          return rising && column == 0 ? kRise * (key + 1) / key_count : normal(random);
        });
      }
    }
    const Operand query(dtype, depth, [&](int column) {
      if (rising) return column == 0 ? 1 / scale.exact : normal(random);
      return 8 * normal(random);
    });
    Row row;
    for (const Operand& key : keys) {
      row.exact.push_back(exact_product(query, key));
      row.summed.push_back(summed_product(query, key, chain));
    }
    worst = std::max(worst, std::abs(row.error(scale, chain_truncation(std::min(chain, depth)))));
  }
  return worst;
}

}  // namespace

TEST_CASE("rising and large logits keep the log-sum-exp within its bound") {
  for (const DataType dtype : {DataType::kFp16, DataType::kBf16}) {
    for (const int depth : {64, 96, 128, 192, 256}) {
      const int chain = score_chain_depth(depth);
      const double rising = worst_error(dtype, Logits::kRising, depth, chain);
      const double few = worst_error(dtype, Logits::kRising, depth, chain, kFewKeys);
      const double large = worst_error(dtype, Logits::kLarge, depth, chain);
      std::printf(
          "%s, head dim %3d, chains of %3d: rising %.2f, few %.2f, large %.2f of the bound\n",
          std::string(enum_name(dtype)).c_str(), depth, chain, rising, few, large);
      INFO(enum_name(dtype) << ", head dim " << depth);
      CHECK(rising < 1);
      CHECK(few < 1);
      CHECK(large < 1);
    }
  }
}

TEST_CASE("longer chains would use up the bound") {
  for (const auto& [depth, chain] :
       {std::pair{96, 96}, {192, 96}, {192, 64}, {256, 128}, {256, 64}}) {
    const double rising = worst_error(DataType::kFp16, Logits::kRising, depth, chain);
    std::printf("fp16, head dim %3d, chains of %3d: rising %.2f\n", depth, chain, rising);
    INFO("depth " << depth << ", chain " << chain);
    CHECK(rising > worst_error(DataType::kFp16, Logits::kRising, depth, score_chain_depth(depth)));
  }
}

TEST_CASE("where sums are exact, what is put back does not break the bound") {
  std::mt19937 random(29);
  for (const int depth : {64, 128, 256}) {
    const Scale scale(depth);
    const float truncation = score_truncation(depth);
    for (int i = 0; i < 100000; ++i) {
      // Up to 2^18, so close below a power of two that several keys carry the result beyond it.
      const double power = std::ldexp(1, 3 + i % 16);
      const double logit = power * (1 - std::ldexp(random() % 1024, -20 + i % 11));
      const auto score = static_cast<float>(logit / scale.exact);
      const auto keys = static_cast<std::size_t>(1 + random() % 300);
      const Row row{std::vector<double>(keys, static_cast<double>(score)),
                    std::vector<float>(keys, score)};
      const double error = std::abs(row.error(scale, truncation));
      if (error < 1) continue;
      INFO("depth " << depth << ", logit " << logit << ", keys " << keys);
      CHECK(error < 1);
    }
  }
}

}  // namespace heddle
