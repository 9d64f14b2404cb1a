#pragma once
// Quantiser: each tile's largest magnitude, for scales that tiles share.

#include "part/row_preparation.cuh"

namespace heddle::quantise {

template <class Config>
inline void magnitudes(const QuantiseParameters& parameters) {
  static_assert(Config::kSharedBytes == Config::kThreads / kWarpSize * sizeof(float),
                "the host's shared-memory size is not the kernel's");
  const QuantiseTile<Config> tile(parameters, block_index());
  const RowPreparation<Config> preparation(parameters, tile);
  float largest = 0.0f;
#pragma unroll
  for (int i = 0; i < QuantiseTile<Config>::kRows; ++i) {
    typename QuantiseTile<Config>::Numbers numbers;
    preparation.apply(tile, i, numbers);
    largest = maximum(largest, largest_magnitude(numbers));
  }
  largest = block_maximum<Config>(largest * RowPreparation<Config>::kFactor);
  if (thread_index() == 0) parameters.magnitudes[block_index()] = largest;
}

}  // namespace heddle::quantise
