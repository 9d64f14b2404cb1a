#pragma once
// The log-sum-exp of a row from what the online softmax leaves of it.

#include "instruction/math.cuh"
#include "layout.cuh"
#include "parameters.cuh"
#include "part/exponent_base.cuh"

namespace heddle {

/// What rounding added to kLn2, as a share of it.
constexpr float kLn2Excess = static_cast<float>(kLn2 / 0.693147180559945309 - 1.0);

/// Large bases (part/exponent_base.cuh) come from part/exact_rows.cuh, whose sums lose nothing.
constexpr float kTruncationOfLarge = 0.0f;

/// What to add to a logit (log2 units) for the truncation of its sum: `share` of it, and up to two
/// thirds more as long as that is little beside the constant part of the contract's bound.
inline float put_back(float logit, float share) {
  constexpr float kMost = 4.0e-6f;
  const float more = logit * share * (2.0f / 3.0f);
  const float limited = maximum(-maximum(-more, -kMost), -kMost);
  return multiply_add(logit, share, limited);
}

/// Natural logarithm of sum * 2^base; -inf for a row that saw no key. The base is a logit in log2
/// units, too large by the share `excess` of it for what its scale was rounded by, and too small
/// for the truncation of its sum. The logit outgrows the logarithm, so what corrects it joins the
/// smaller term, and only the last sum rounds at its size.
inline float log_sum_exp(const ExponentBase& base, float sum, float excess, float truncation) {
  if (sum == 0.0f) return -infinity();
  const float too_large = base.value * (excess + kLn2Excess) - put_back(base.value, truncation);
  const float correction = fast_log2(sum) + base.residue - too_large;
  return multiply_add(base.value, kLn2, correction * kLn2);
}

/// Of logits that lose the share `truncation`; user code that made them over keeps none of it.
template <class Config>
inline float log_sum_exp_of(const AttentionParameters& parameters, const ExponentBase& base,
                            float sum, float truncation) {
  const float lost = Config::kScoreHook ? 0.0f : truncation;
  return log_sum_exp(base, sum, parameters.scale_log2_excess, lost);
}

/// Of logits summed by mma.sync.
template <class Config>
inline float log_sum_exp(const AttentionParameters& parameters, const ExponentBase& base,
                         float sum) {
  constexpr float kTruncation = score_truncation(Config::kHeadDimPadded);
  return log_sum_exp_of<Config>(parameters, base, sum, kTruncation);
}

}  // namespace heddle
