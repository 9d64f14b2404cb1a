#include "tests/testing/split_parts.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>

#include "runtime/testing/compare.hpp"
#include "runtime/testing/element.hpp"
#include "runtime/testing/inputs.hpp"

namespace heddle {
namespace {

constexpr int kSplits = 8;
constexpr int kBatch = 8;  // enough rows that an RMS over them means something
constexpr int kMergedRows = 33;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

bool same_floats(const std::vector<float>& left, const std::vector<float>& right) {
  return left.size() == right.size() &&
         std::memcmp(left.data(), right.data(), left.size() * sizeof(float)) == 0;
}

bool is_zero_throughout(const KernelResult& result) {
  const auto is_zero = [](std::uint16_t bits) { return bits == 0; };
  const auto is_empty = [](float value) { return value == -kInfinity; };
  return std::all_of(result.output.begin(), result.output.end(), is_zero) &&
         std::all_of(result.log_sum_exp.begin(), result.log_sum_exp.end(), is_empty);
}

AttentionResult widened(DataType dtype, const KernelResult& result) {
  AttentionResult wide;
  for (const std::uint16_t bits : result.output) {
    wide.output.push_back(static_cast<double>(element_to_float(dtype, bits)));
  }
  wide.log_sum_exp.assign(result.log_sum_exp.begin(), result.log_sum_exp.end());
  return wide;
}

}  // namespace

std::vector<Problem> sparse_split_problems(const Variant& variant) {
  struct Lengths {
    int query, key;
  };
  std::vector<Problem> problems;
  const bool causal = variant.mask == MaskKind::kCausal;
  const auto lengths = causal ? std::vector<Lengths>{{4, 130}, {4, 1}}
                              : std::vector<Lengths>{{1, 0}, {1, 1}, {1, 130}, {1, 1024}};
  for (const Lengths& pair : lengths) {
    Problem problem;
    problem.variant = variant;
    problem.sizes = {.batch = kBatch,
                     .heads = 2,
                     .seqlen_q = pair.query,
                     .seqlen_kv = pair.key,
                     .num_splits = kSplits};
    problems.push_back(problem);
  }
  return problems;
}

std::string check_beside_whole(const Problem& problem, const AttentionResult& baseline,
                               const SplitResults& results) {
  const auto& [config, split, whole] = results;
  if (problem.sizes.seqlen_kv == 0) {
    return is_zero_throughout(split) && is_zero_throughout(whole) ? "" : "not exactly 0 and -inf";
  }
  if (problem.sizes.seqlen_kv <= config.tile_n) {
    const bool same =
        split.output == whole.output && same_floats(split.log_sum_exp, whole.log_sum_exp);
    return same ? "" : "one part saw all keys, but the bits are not those of the unsplit result";
  }
  return compare(problem, widened(problem.variant.dtype, whole), baseline, split.output,
                 split.log_sum_exp)
      .explanation;
}

SplitParts one_part_each(const Variant& variant, int num_splits, std::uint64_t seed) {
  SplitParts parts;
  parts.problem.variant = variant;
  parts.problem.sizes = {
      .seqlen_q = kMergedRows, .seqlen_kv = kMergedRows, .num_splits = num_splits};
  const auto columns = static_cast<std::size_t>(variant.head_dim);
  const auto splits = static_cast<std::size_t>(num_splits);
  parts.output.resize(splits * kMergedRows * columns);
  parts.rows.resize(splits * kMergedRows, {-kInfinity, 0.0f, 0.0f});
  parts.merged_output.resize(kMergedRows * columns);
  parts.merged_log_sum_exp.resize(kMergedRows, -kInfinity);
  NormalSource normal(seed);
  for (std::size_t row = 0; row < kMergedRows; ++row) {
    if (row % 4 == 0) continue;  // no part saw a key
    const std::size_t at = row * 7 % splits * kMergedRows + row;
    // In log2 units; far enough from 0 that exponents of unguarded differences would overflow, and
    // every second one beyond where a base may be rounded.
    const double logit = (row % 2 == 0 ? 300 : 30000) * normal.next();
    const double sum = 1 + std::abs(normal.next());
    const auto base = static_cast<float>(logit);
    parts.rows[at] = {base, static_cast<float>(logit - static_cast<double>(base)),
                      static_cast<float>(sum)};
    parts.merged_log_sum_exp[row] = logit * std::numbers::ln2 + std::log(sum);
    for (std::size_t column = 0; column < columns; ++column) {
      const float value = column == row % columns ? -0.0f : static_cast<float>(normal.next());
      parts.output[at * columns + column] = value;
      parts.merged_output[row * columns + column] = element_from_float(variant.dtype, value);
    }
  }
  return parts;
}

LaunchPlan combine_alone(const LaunchPlan& plan) {
  LaunchPlan alone = plan;
  alone.launches[0] = plan.launches[1];
  alone.count = 1;
  return alone;
}

std::string check_merged(const SplitParts& parts, const KernelResult& merged) {
  const auto columns = static_cast<std::size_t>(parts.problem.variant.head_dim);
  for (std::size_t i = 0; i < parts.merged_output.size(); ++i) {
    if (merged.output[i] == parts.merged_output[i]) continue;
    return "row " + std::to_string(i / columns) + ", column " + std::to_string(i % columns) +
           " has other bits than its part";
  }
  for (std::size_t row = 0; row < parts.merged_log_sum_exp.size(); ++row) {
    const double expected = parts.merged_log_sum_exp[row];
    const auto merged_value = static_cast<double>(merged.log_sum_exp[row]);
    const bool is_right = std::isinf(expected) ? merged_value == expected
                                               : std::abs(merged_value - expected) <=
                                                     allowed_log_sum_exp_error(std::abs(expected));
    if (!is_right) return "row " + std::to_string(row) + " has another log-sum-exp than its part";
  }
  return "";
}

}  // namespace heddle
