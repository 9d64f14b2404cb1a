#pragma once
// C30: split-KV where parts saw no key. Problems and properties for the host and for a GPU.

#include <string>
#include <vector>

#include "generator/kernel_config.hpp"
#include "generator/launch_plan.hpp"
#include "runtime/testing/case_checks.hpp"

namespace heddle {

/// Eight splits forced, some or all of them without a key. One variant for each mask.
std::vector<Problem> sparse_split_problems(const Variant& variant);

/// The same problem's results, of many splits and of one.
struct SplitResults {
  const KernelConfig& config;
  const KernelResult split, whole;
};
/// What is wrong with `split`, beside `whole`, or nothing: within the contract's tolerance of each
/// other; the same bits where one part saw all keys; zeros and -inf where there is no key.
std::string check_beside_whole(const Problem& problem, const AttentionResult& baseline,
                               const SplitResults& results);

/// Partial results as the attention kernel leaves them, each row with one part that saw keys, or
/// none: merging must hand that part's output through, bit for bit.
struct SplitParts {
  Problem problem;
  std::vector<float> output;     ///< [split, row, column]
  std::vector<PartialRow> rows;  ///< [split, row]
  std::vector<std::uint16_t> merged_output;
  std::vector<double> merged_log_sum_exp;
};
SplitParts one_part_each(const Variant& variant, int num_splits, std::uint64_t seed);

/// The plan without the attention kernel.
LaunchPlan combine_alone(const LaunchPlan& plan);
std::string check_merged(const SplitParts& parts, const KernelResult& merged);

}  // namespace heddle
