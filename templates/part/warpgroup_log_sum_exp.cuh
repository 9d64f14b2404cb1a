#pragma once
// The log-sum-exp of rows whose logits wgmma has summed.

#include "part/log_sum_exp.cuh"

namespace heddle {

/// wgmma sums the whole depth in one chain. Each step cuts its products to the grid of the largest
/// before it adds them, which takes as much again as cutting the sum does: with twice the share put
/// back, errors lie evenly round 0 (head dim 256, logits rising to 40, on the host's twin).
constexpr float kWgmmaTruncations = 2.0f;

template <class Config>
inline float warpgroup_log_sum_exp(float reference, float sum) {
  constexpr float kBias =
      Config::kScoreHook ? 0.0f : kWgmmaTruncations * chain_truncation(Config::kHeadDimPadded);
  return log_sum_exp(reference, sum, kBias);
}

}  // namespace heddle
