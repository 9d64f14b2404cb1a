#pragma once
// From numbers to the elements, scales and layouts that a problem asks for.

#include <cstdint>
#include <vector>

#include "runtime/testing/reference.hpp"

namespace heddle {

/// What inputs are meant to be, before anything is rounded: [batch, head, row, column], contiguous,
/// V by rows.
struct InputNumbers {
  std::vector<float> query, key, value;
};

/// Which numbers random scales are.
enum class ScaleChoice {
  kAny,          ///< 2^-1.5 to 2^1.5
  kPowersOfTwo,  ///< 1, 2 or 4: few numbers are rounded otherwise than without a scale
};

/// Scales for these numbers, each granule's drawn for itself, so that none can stand in for
/// another. Large enough for e4m3's range. Means and shifts stay away. Empty beside 16-bit inputs.
HostScales random_scales(const Problem& problem, const InputNumbers& numbers, ScaleChoice choice,
                         std::uint64_t seed);

/// Contiguous tensors, V by the problem's value_layout: numbers over their scales, rounded to the
/// input type.
HostTensors encode(const Problem& problem, const InputNumbers& numbers, HostScales scales);

}  // namespace heddle
