#pragma once
// The log-sum-exp of a row from what the online softmax leaves of it.

#include "instruction/math.cuh"
#include "layout.cuh"
#include "parameters.cuh"

namespace heddle {

/// What rounding added to kLn2, as a share of it.
constexpr float kLn2Excess = static_cast<float>(kLn2 / 0.693147180559945309 - 1.0);

/// Natural logarithm of sum * 2^reference; -inf for a row that saw no key. `reference` is a logit
/// in log2 units, too large by the share `excess` of it. The logit outgrows the logarithm, so what
/// corrects it joins the smaller term, and only the last sum rounds at its size.
inline float log_sum_exp(float reference, float sum, float excess) {
  if (sum == 0.0f) return -infinity();
  const float correction = fast_log2(sum) - reference * (excess + kLn2Excess);
  return multiply_add(reference, kLn2, correction * kLn2);
}

/// How much too large a logit is that tensor cores summed in chains which lost the share
/// `truncation` on average. Those that user code made over are taken as they are.
template <class Config>
inline float logit_excess(const AttentionParameters& parameters, float truncation) {
  return Config::kScoreHook ? 0.0f : parameters.scale_log2_excess - truncation;
}

/// Of logits summed by mma.sync.
template <class Config>
inline float log_sum_exp(const AttentionParameters& parameters, float reference, float sum) {
  constexpr float kTruncation = score_truncation(Config::kHeadDimPadded);
  return log_sum_exp(reference, sum, logit_excess<Config>(parameters, kTruncation));
}

}  // namespace heddle
