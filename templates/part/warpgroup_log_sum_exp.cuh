#pragma once
// The log-sum-exp of rows whose logits wgmma has summed.

#include "part/log_sum_exp.cuh"
#include "part/significand.cuh"
#include "warpgroup_layout.cuh"

namespace heddle {

/// Up to a depth of 128 what is put back stays below the four units in the last place by which it
/// may be wrong where nothing was cut.
template <class Config>
inline float warpgroup_log_sum_exp(float reference, float sum) {
  constexpr int kChainDepth = 16 * wgmma_chain_steps(Config::kHeadDimPadded);
  static_assert(kChainDepth <= 128);
  constexpr int kBits = significand_bits(typename Config::Element{});
  constexpr float kBias = Config::kScoreHook ? 0.0f : chain_truncation(kChainDepth, kBits);
  return log_sum_exp(reference, sum, kBias);
}

}  // namespace heddle
