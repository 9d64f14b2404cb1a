#pragma once
// The log-sum-exp of rows whose logits wgmma has summed.

#include "part/log_sum_exp.cuh"

namespace heddle {

/// wgmma sums the whole depth in one chain. Up to a depth of 128 what is put back stays below the
/// two units in the last place by which it would be wrong where nothing was cut.
template <class Config>
inline float warpgroup_log_sum_exp(float reference, float sum) {
  static_assert(Config::kHeadDimPadded <= 128, "deeper sums have to be cut into chains");
  constexpr float kBias = Config::kScoreHook ? 0.0f : chain_truncation(Config::kHeadDimPadded);
  return log_sum_exp(reference, sum, kBias);
}

}  // namespace heddle
