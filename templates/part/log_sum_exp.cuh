#pragma once
// The log-sum-exp of a row from what the online softmax leaves of it.

#include "instruction/math.cuh"
#include "layout.cuh"
#include "parameters.cuh"
#include "part/exponent_base.cuh"

namespace heddle {

/// What rounding added to kLn2, as a share of it.
constexpr float kLn2Excess = static_cast<float>(kLn2 / 0.693147180559945309 - 1.0);

/// Natural logarithm of sum * 2^base; -inf for a row that saw no key. The base is a logit in log2
/// units, too large by the share `excess` of it. The logit outgrows the logarithm, so what corrects
/// it joins the smaller term, and only the last sum rounds at its size.
inline float log_sum_exp(const ExponentBase& base, float sum, float excess) {
  if (sum == 0.0f) return -infinity();
  const float correction = fast_log2(sum) + base.residue - base.value * (excess + kLn2Excess);
  return multiply_add(base.value, kLn2, correction * kLn2);
}

/// The share by which a logit in log2 units is too large: what rounding added to the scale, less
/// what the chains of its sum lose on average. Nothing is put back where user code made it over.
template <class Config>
inline float logit_excess(const AttentionParameters& parameters, float truncation) {
  return parameters.scale_log2_excess - (Config::kScoreHook ? 0.0f : truncation);
}

/// Of logits summed by mma.sync.
template <class Config>
inline float log_sum_exp(const AttentionParameters& parameters, const ExponentBase& base,
                         float sum) {
  constexpr float kTruncation = score_truncation(Config::kHeadDimPadded);
  return log_sum_exp(base, sum, logit_excess<Config>(parameters, kTruncation));
}

/// The same of a row's reference.
template <class Config>
inline float log_sum_exp(const AttentionParameters& parameters, float reference, float sum) {
  return log_sum_exp<Config>(parameters, ExponentBase::of(reference, parameters.scale_log2), sum);
}

}  // namespace heddle
