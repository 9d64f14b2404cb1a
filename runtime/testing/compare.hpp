#pragma once

#include <string>

#include "runtime/testing/reference.hpp"
#include "tuning_db/records.hpp"

namespace heddle {

struct Comparison {
  CheckRecord record;
  std::string explanation;  ///< first failing element or figure, in words; empty when passed
};

/// The rule of the numerical contract. All tensors contiguous, `output` in the problem's output
/// type.
/// - O, per element: |err| <= 2 * the baseline's max error + 1e-5 * the row's scale, which is the
///   largest |O| of the reference's row. Where the reference's LSE is -inf, O is exactly what the
///   reference says.
/// - O, over all: RMS error <= 1.2 * the baseline's + 1e-5 * the RMS of the rows' scales.
/// - LSE: within 1e-5 + 4 fp32 ulps of the row's largest |logit|; -inf exactly where expected. Of
///   e4m3 inputs more, by the reference's cut_error.
/// - NaN/Inf exactly where the reference has them. A row whose reference LSE is NaN must be NaN
///   throughout. Elsewhere NaN and infinity stand for each other (whether p underflows to 0 beside
///   an infinite V depends on the precision), but not infinities of opposite sign.
/// Fails, never passes, where there is nothing to compare, where a tensor has another size than the
/// problem says, and where the baseline itself is not finite while the reference is.
Comparison compare(const Problem& problem, const AttentionResult& reference,
                   const AttentionResult& baseline, const std::vector<std::uint16_t>& output,
                   const std::vector<float>& log_sum_exp);

/// How far a log-sum-exp may be from the reference's, by the row's largest |logit|.
double allowed_log_sum_exp_error(double largest_logit);

}  // namespace heddle
