#pragma once
// Merges the partial results of split-KV attention: each warp owns one query row.

#include "instruction/math.cuh"
#include "instruction/memory.cuh"
#include "instruction/thread.cuh"
#include "instruction/types.cuh"
#include "part/exponent_base.cuh"
#include "part/log_sum_exp.cuh"
#include "part/sequence_info.cuh"

namespace heddle::fa2 {

/// What the parts of one row weigh together. A part that saw no key weighs 0; if it is the only
/// other one, the weight of a part is exactly 1.
struct RowTotal {
  float reference = -infinity();  ///< the largest of the parts'
  float sum = 0.0f;               ///< relative to it
  float scale_log2;

  /// `parts` points at the row's first part; the others follow `stride` apart. The lanes of a warp
  /// share the work.
  RowTotal(const PartialRow* parts, long long stride, const AttentionParameters& parameters)
      : scale_log2(parameters.scale_log2) {
    for (int split = lane(); split < parameters.num_splits; split += kWarpSize) {
      reference = maximum(reference, parts[split * stride].reference);
    }
    for (int mask = kWarpSize / 2; mask > 0; mask /= 2) {
      reference = maximum(reference, shuffle_xor(reference, mask));
    }
    for (int split = lane(); split < parameters.num_splits; split += kWarpSize) {
      sum += share(parts[split * stride]);
    }
    for (int mask = kWarpSize / 2; mask > 0; mask /= 2) sum += shuffle_xor(sum, mask);
  }

  /// What a part adds to the sum.
  float share(const PartialRow& part) const {
    return part.sum * move_factor(part.reference, reference, scale_log2);
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

  const PartialRow* parts = parameters.partial_rows + row;
  const RowTotal total(parts, rows, parameters);

  float merged[kPairs][2];
#pragma unroll
  for (int i = 0; i < kPairs; ++i) merged[i][0] = merged[i][1] = -0.0f;  // -0 + x is x, even for -0
  for (int split = 0; split < parameters.num_splits; ++split) {
    const long long part = split * rows;
    // Of a split without keys nothing was stored. A weight that underflows is no reason to leave a
    // split out: 0 * NaN is NaN, as in a run without splits.
    const PartialRow partial = parts[part];
    if (partial.sum == 0.0f) continue;
    const float weight = total.share(partial) / total.sum;
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
    if (total.sum == 0.0f) merged[i][0] = merged[i][1] = 0.0f;
    store_pair<Element, Config::kAlignment>(destination + column, merged[i][0], merged[i][1]);
  }
  if (parameters.log_sum_exp != nullptr && lane() == 0) {
    parameters.log_sum_exp[row] = log_sum_exp<Config>(parameters, total.reference, total.sum);
  }
}

}  // namespace heddle::fa2
