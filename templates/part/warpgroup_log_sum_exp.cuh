#pragma once
// The log-sum-exp of rows whose logits wgmma has summed.

#include "part/log_sum_exp.cuh"
#include "warpgroup_layout.cuh"

namespace heddle {

/// warpgroup_layout.cuh says why no chain is deeper.
template <class Config>
inline float warpgroup_log_sum_exp(const AttentionParameters& parameters, const ExponentBase& base,
                                   float sum) {
  constexpr int kChainDepth = 16 * wgmma_chain_steps(Config::kHeadDimPadded);
  static_assert(kChainDepth <= 128);
  // 8-bit sums are cut so much earlier that what is lost says nothing of the sign of the rest.
  constexpr float kTruncation = Config::kScaledInputs ? 0.0f : chain_truncation(kChainDepth);
  return log_sum_exp_of<Config>(parameters, base, sum, kTruncation);
}

}  // namespace heddle
