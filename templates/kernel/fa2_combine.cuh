#pragma once
// Merges the partial results of split-KV attention: each warp owns one query row.

#include "instruction/math.cuh"
#include "instruction/memory.cuh"
#include "instruction/thread.cuh"
#include "instruction/types.cuh"
#include "part/sequence_info.cuh"

namespace heddle::fa2 {

/// What the partial results of one row weigh. A part that saw no key has log-sum-exp -inf and
/// weighs 0; if it is the only other one, the weight of a part is exactly 1.
struct SplitWeights {
  float maximum_log_sum_exp;  ///< 0 if no part saw a key
  float sum;

  /// `parts` points at the row's first log-sum-exp; those of the other splits follow `stride`
  /// floats apart. The lanes of a warp share the work.
  static SplitWeights of_row(const float* parts, long long stride, int num_splits) {
    float largest = -infinity();
    for (int split = lane(); split < num_splits; split += kWarpSize) {
      largest = maximum(largest, parts[split * stride]);
    }
    for (int mask = kWarpSize / 2; mask > 0; mask /= 2) {
      largest = maximum(largest, shuffle_xor(largest, mask));
    }
    SplitWeights weights{largest == -infinity() ? 0.0f : largest, 0.0f};
    for (int split = lane(); split < num_splits; split += kWarpSize) {
      weights.sum += weights.unnormalised(parts[split * stride]);
    }
    for (int mask = kWarpSize / 2; mask > 0; mask /= 2) {
      weights.sum += shuffle_xor(weights.sum, mask);
    }
    return weights;
  }

  float unnormalised(float log_sum_exp) const {
    return fast_exp2((log_sum_exp - maximum_log_sum_exp) * kLog2E);
  }

  float log_sum_exp() const {
    return sum == 0.0f ? -infinity() : maximum_log_sum_exp + natural_log(sum);
  }
};

template <class Element, int kAlignment>
inline void store_pair(Element* destination, float low, float high) {
  if constexpr (kAlignment >= 4) {
    store<4>(destination, Bytes<4>{pack(low, high, Element{})});
  } else {
    destination[0] = from_float<Element>(low);
    destination[1] = from_float<Element>(high);
  }
}

template <class Config>
inline void combine(const AttentionParameters& parameters) {
  using Element = typename Config::Element;
  constexpr int kPairs = ceil_divide(Config::kHeadDim, 2 * kWarpSize);

  const long long rows = flat_row(parameters, parameters.batch, 0, 0);
  const long long row =
      static_cast<long long>(block_index()) * (Config::kThreads / kWarpSize) + warp();
  if (row >= rows) return;

  const float* parts = parameters.partial_log_sum_exp + row;
  const SplitWeights weights = SplitWeights::of_row(parts, rows, parameters.num_splits);

  float merged[kPairs][2];
#pragma unroll
  for (int i = 0; i < kPairs; ++i) merged[i][0] = merged[i][1] = -0.0f;  // -0 + x is x, even for -0
  const float inverse_sum = weights.sum == 0.0f ? 0.0f : 1.0f / weights.sum;
  for (int split = 0; split < parameters.num_splits; ++split) {
    const long long part = split * rows;
    // Of a split without keys nothing was stored. A weight that underflows is no reason to leave a
    // split out: 0 * NaN is NaN, as in a run without splits.
    if (parts[part] == -infinity()) continue;
    const float weight = weights.unnormalised(parts[part]) * inverse_sum;
    const float* output = parameters.partial_output + (part + row) * Config::kHeadDim;
#pragma unroll
    for (int i = 0; i < kPairs; ++i) {
      const int column = 2 * (lane() + i * kWarpSize);
      if (column >= Config::kHeadDim) continue;
      const Bytes<8> pair = load<8>(output + column);
      merged[i][0] += weight * __uint_as_float(pair.value[0]);
      merged[i][1] += weight * __uint_as_float(pair.value[1]);
    }
  }

  const long long flat_head = row / parameters.seqlen_q;
  Element* destination =
      tensor_row<Element>(parameters.output, flat_head / parameters.heads,
                          flat_head % parameters.heads, row % parameters.seqlen_q);
#pragma unroll
  for (int i = 0; i < kPairs; ++i) {
    const int column = 2 * (lane() + i * kWarpSize);
    if (column >= Config::kHeadDim) continue;
    if (weights.sum == 0.0f) merged[i][0] = merged[i][1] = 0.0f;
    store_pair<Element, Config::kAlignment>(destination + column, merged[i][0], merged[i][1]);
  }
  if (parameters.log_sum_exp != nullptr && lane() == 0) {
    parameters.log_sum_exp[row] = weights.log_sum_exp();
  }
}

}  // namespace heddle::fa2
