#pragma once
// Quantiser: a scale from the largest magnitudes of all that share it. A block is a scale.

#include "part/quantised_store.cuh"

namespace heddle::quantise {

template <class Config>
inline void scales(const QuantiseParameters& parameters) {
  static_assert(Config::kSharedBytes == Config::kThreads / kWarpSize * sizeof(float),
                "the host's shared-memory size is not the kernel's");
  const int count = parameters.magnitudes_per_scale;
  const float* magnitudes = parameters.magnitudes + static_cast<long long>(block_index()) * count;
  float largest = 0.0f;
  for (int i = thread_index(); i < count; i += Config::kThreads) {
    largest = maximum(largest, magnitudes[i]);
  }
  largest = block_maximum<Config>(largest);
  if (thread_index() == 0) parameters.scales[block_index()] = scale_of(largest);
}

}  // namespace heddle::quantise
