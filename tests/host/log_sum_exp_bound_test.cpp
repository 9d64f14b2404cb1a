// The log-sum-exp of rows whose logits tensor cores have summed, by the model of their sums and
// with the kernels' own last step, against the contract's bound. The kernels themselves meet it in
// host_suite_test; here rows are cheap enough to look for the worst of thousands.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "generator/launch_plan.hpp"
#include "runtime/host/product_sum.hpp"
#include "runtime/testing/compare.hpp"
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

struct Scale {
  double exact;
  float log2;
  float excess;

  explicit Scale(int depth) {
    Problem problem;
    problem.variant.head_dim = depth;
    exact = resolved_scale(problem.variant, problem.sizes);
    const KernelConfig config;
    const LaunchPlan plan = plan_launch(problem, config, find_architecture("sm_90a"));
    const AttentionParameters parameters = fill_parameters(problem, config, plan, {});
    log2 = parameters.scale_log2;
    excess = parameters.scale_log2_excess;
  }
};

/// A row's scores, exact and as a kernel has them.
struct Row {
  std::vector<double> exact;
  std::vector<float> summed;

  /// The kernel's error over the bound; positive where its result is too large.
  double error(const Scale& scale, float truncation, std::size_t parts = 1) const {
    const double largest = *std::max_element(exact.begin(), exact.end());
    double exact_sum = 0, largest_logit = 0;
    for (const double score : exact) {
      exact_sum += std::exp((score - largest) * scale.exact);
      largest_logit = std::max(largest_logit, std::abs(score) * scale.exact);
    }
    const double expected = largest * scale.exact + std::log(exact_sum);
    const auto actual = static_cast<double>(log_sum_exp_of_parts(scale, truncation, parts));
    return (actual - expected) / allowed_log_sum_exp_error(largest_logit);
  }

 private:
  float log_sum_exp_of_parts(const Scale& scale, float truncation, std::size_t parts) const {
    const std::size_t keys = (summed.size() + parts - 1) / parts;
    std::vector<PartialRow> results;
    for (std::size_t first = 0; first < summed.size(); first += keys) {
      const auto from = summed.begin() + static_cast<std::ptrdiff_t>(first);
      const auto to =
          summed.begin() + static_cast<std::ptrdiff_t>(std::min(first + keys, summed.size()));
      const ExponentBase base = base_of(*std::max_element(from, to), scale);
      PartialRow part{base.value, base.residue, 0};
      for (auto score = from; score != to; ++score) {
        part.sum += fast_exp2(multiply_add(*score, scale.log2, -base.value) - base.residue);
      }
      results.push_back(part);
    }
    const PartialRow whole = merge(results);
    const float lost = is_large_base(whole.base) ? kTruncationOfLarge : truncation;
    return log_sum_exp({whole.base, whole.residue}, whole.sum, scale.excess, lost);
  }

  /// Exact where it is large, as part/exact_rows.cuh has it.
  static ExponentBase base_of(float score, const Scale& scale) {
    const auto exact = ExponentBase::exact(score, scale.log2);
    return {exact.value, is_large_base(exact.value) ? exact.residue : 0.0f};
  }

  /// As kernel/split_combine.cuh merges splits.
  static PartialRow merge(const std::vector<PartialRow>& parts) {
    const auto larger = [](const PartialRow& a, const PartialRow& b) {
      return a.base < b.base || (a.base == b.base && a.residue < b.residue);
    };
    PartialRow whole = *std::max_element(parts.begin(), parts.end(), larger);
    whole.sum = 0;
    for (const PartialRow& part : parts) {
      whole.sum += part.sum * move_factor({part.base, part.residue}, {whole.base, whole.residue});
    }
    return whole;
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

TEST_CASE("longer chains come closer to the bound") {
  const auto rising = [](int depth, int chain) {
    return worst_error(DataType::kFp16, Logits::kRising, depth, chain);
  };
  for (const auto& [depth, chains] :
       {std::pair{96, std::vector{96}}, {192, std::vector{96, 64}}, {256, std::vector{128, 64}}}) {
    const double usual = rising(depth, score_chain_depth(depth));
    for (const int chain : chains) {
      const double longer = rising(depth, chain);
      std::printf("fp16, head dim %3d, chains of %3d: rising %.2f\n", depth, chain, longer);
      INFO("head dim " << depth << ", chains of " << chain);
      CHECK(longer > usual);
    }
  }
}

TEST_CASE("where sums are exact, what is put back does not break the bound") {
  std::mt19937 random(29);
  for (const int depth : {64, 96, 128, 256}) {
    const Scale scale(depth);
    for (const std::size_t parts : {1, 2, 3, 8}) {
      double worst = 0, worst_logit = 0;
      for (int i = 0; i < 20000; ++i) {
        // From half of a power of two to so close below it that a few keys carry the result beyond
        // it: up to 2^18.
        const double power = std::ldexp(1, 3 + i % 16);
        const double logit = power * (1 - std::ldexp(random() % 1024, -11 - i % 10));
        const auto score = static_cast<float>(logit / scale.exact);
        const std::size_t keys = parts + random() % 300;
        const Row row{std::vector<double>(keys, static_cast<double>(score)),
                      std::vector<float>(keys, score)};
        const double error = std::abs(row.error(scale, score_truncation(depth), parts));
        if (error > worst) worst = error, worst_logit = logit;
      }
      std::printf("head dim %3d, %zu parts: exact sums %.3f of the bound (logit %g)\n", depth,
                  parts, worst, worst_logit);
      INFO("head dim " << depth << ", " << parts << " parts, logit " << worst_logit);
      CHECK(worst < 1);
      CHECK(worst > 0.1);
    }
  }
}

}  // namespace heddle
