#pragma once
// The log-sum-exp of a row from what the online softmax leaves of it.

#include "instruction/math.cuh"
#include "layout.cuh"
#include "part/significand.cuh"

namespace heddle {

/// Natural logarithm of sum * 2^reference; -inf for a row that saw no key. `reference` is a logit
/// in log2 units, hence of the tensor core's summing: the share `bias` of it that truncation takes
/// on average is put back.
inline float log_sum_exp(float reference, float sum, float bias) {
  if (sum == 0.0f) return -infinity();
  return (reference + (reference * bias + fast_log2(sum))) * kLn2;
}

/// Of logits summed by mma.sync. Those that user code made over are left as they are.
template <class Config>
inline float log_sum_exp(float reference, float sum) {
  constexpr int kBits = significand_bits(typename Config::Element{});
  constexpr float kBias =
      Config::kScoreHook ? 0.0f : score_truncation(Config::kHeadDimPadded, kBits);
  return log_sum_exp(reference, sum, kBias);
}

}  // namespace heddle
