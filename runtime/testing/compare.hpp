#pragma once

#include <string>

#include "runtime/testing/reference.hpp"
#include "tuning_db/records.hpp"

namespace heddle {

struct Comparison {
  CheckRecord record;
  std::string explanation;  ///< first failing element or figure, in words; empty when passed
};

/// The rule of the numerical contract: per element |err| <= 2 * baseline's max error + 1e-5 * the
/// row's scale; RMS <= 1.2 * the baseline's + the same floor; LSE within 1e-5 + 4 fp32 ulps of the
/// largest |logit|; NaN/Inf exactly where the reference has them. All tensors contiguous.
Comparison compare(const Problem& problem, const AttentionResult& reference,
                   const AttentionResult& baseline, const std::vector<std::uint16_t>& output,
                   const std::vector<float>& log_sum_exp);

}  // namespace heddle
