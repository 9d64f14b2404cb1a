#pragma once
// How precise an element is, for what the tensor core's sums of products lose.

#include "instruction/types.cuh"

namespace heddle {

/// The leading 1 included.
constexpr int significand_bits(Half) {
  return 11;
}
constexpr int significand_bits(BFloat16) {
  return 8;
}

}  // namespace heddle
