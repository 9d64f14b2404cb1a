#pragma once
// One value out of those that neighbouring lanes hold.

#include "instruction/math.cuh"
#include "instruction/thread.cuh"

namespace heddle {

/// The values of each kLanes neighbouring lanes, combined; these lanes all get the same bits, if
/// `combine` is symmetric. kUnroll 1 is for what is rarely run: less to compile.
template <int kLanes, int kUnroll = kLanes, class Value, class Combine>
inline Value reduce_lanes(Value value, Combine combine) {
#pragma unroll kUnroll
  for (int mask = 1; mask < kLanes; mask *= 2) value = combine(value, shuffle_xor(value, mask));
  return value;
}

template <int kLanes, int kUnroll = kLanes, class Value>
inline Value lane_sum(Value value) {
  return reduce_lanes<kLanes, kUnroll>(value, [](Value left, Value right) { return left + right; });
}

/// NaN counts only where all are.
template <int kLanes>
inline float lane_maximum(float value) {
  return reduce_lanes<kLanes>(value, [](float left, float right) { return maximum(left, right); });
}

}  // namespace heddle
