#pragma once
// Merges the partial results of split-KV attention: each warp owns one query row.

#include "instruction/math.cuh"
#include "instruction/memory.cuh"
#include "instruction/thread.cuh"
#include "instruction/types.cuh"
#include "part/descale.cuh"
#include "part/exponent_base.cuh"
#include "part/reduce_lanes.cuh"
#include "part/sequence_info.cuh"
#include "part/warpgroup_log_sum_exp.cuh"

namespace heddle::split {

/// What the parts of one row weigh together. A part that saw no key weighs 0; if it is the only
/// other one, the weight of a part is exactly 1.
struct RowTotal {
  static constexpr float kNoKeys = -1.0f;

  ExponentBase base{-infinity(), -infinity()};  ///< the largest of the parts'
  float sum = 0.0f;                             ///< relative to it

  /// `parts` points at the row's first part; the others follow `stride` apart. The lanes of a warp
  /// share the work.
  RowTotal(const PartialRow* parts, long long stride, int num_splits) {
    for (int split = lane(); split < num_splits; split += kWarpSize) {
      base.value = maximum(base.value, parts[split * stride].base);
    }
    base.value = lane_maximum<kWarpSize>(base.value);
    for (int split = lane(); split < num_splits; split += kWarpSize) {
      const PartialRow& part = parts[split * stride];
      if (part.base == base.value) base.residue = maximum(base.residue, part.residue);
    }
    base.residue = lane_maximum<kWarpSize>(base.residue);
    for (int split = lane(); split < num_splits; split += kWarpSize) {
      sum += share(parts[split * stride]);
    }
    sum = lane_sum<kWarpSize>(sum);
  }

  /// What a part adds to the sum.
  float share(const PartialRow& part) const {
    return part.sum * move_factor({part.base, part.residue}, base);
  }

  /// What its output is multiplied by; kNoKeys where it has none. A weight that
  /// underflows is no reason for that: 0 * NaN is NaN, as in a run without splits.
  float weight(const PartialRow& part) const {
    return part.sum == 0.0f ? kNoKeys : share(part) / sum;
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

/// As the kernels of the family have it: the tensor cores' sums truncate by how they were asked
/// for.
template <class Config>
inline float merged_log_sum_exp(const AttentionParameters& parameters, const RowTotal& total) {
  if (is_large_base(total.base.value)) {
    return log_sum_exp(total.base, total.sum, parameters.scale_log2_excess, kTruncationOfLarge);
  }
  if constexpr (Config::kWarpgroupSums) {
    return warpgroup_log_sum_exp<Config>(parameters, total.base, total.sum);
  } else {
    return log_sum_exp<Config>(parameters, total.base, total.sum);
  }
}

/// This lane's columns of a row, of all its parts.
template <class Config>
struct MergedRow {
  static constexpr int kPairs = ceil_divide(Config::kHeadDim, 2 * kWarpSize);
  /// Parts whose loads are under way together.
  static constexpr int kAtOnce = 8;

  float value[kPairs][2];

  static int column(int pair) { return 2 * (lane() + pair * kWarpSize); }

  /// Of a part without weight only NaN counts: that a row sees, though its logit be -inf.
  static float weighted(float weight, float entry) {
    if (weight == RowTotal::kNoKeys) return entry == entry ? -0.0f : entry;
    return weight * entry;
  }

  MergedRow() {
#pragma unroll
    for (auto& pair : value) pair[0] = pair[1] = -0.0f;  // -0 + x is x, even for -0
  }

  /// Adds up to 32 parts from `first` on. Lanes find their weights, one each.
  void add(const AttentionParameters& parameters, const RowTotal& total, long long row, int first) {
    const long long rows = flat_row(parameters, parameters.batch, 0, 0);
    const int count = minimum(parameters.num_splits - first, kWarpSize);
    const int own = first + minimum(lane(), count - 1);
    const float own_weight = total.weight(parameters.partial_rows[own * rows + row]);
#pragma unroll 1
    for (int i = 0; i < count; i += kAtOnce) {
      Bytes<8> loaded[kAtOnce][kPairs];
#pragma unroll
      for (int k = 0; k < kAtOnce; ++k) {
        const long long part = (first + minimum(i + k, count - 1)) * rows + row;
        const float* output = parameters.partial_output + part * Config::kHeadDim;
#pragma unroll
        for (int pair = 0; pair < kPairs; ++pair) {
          if (column(pair) < Config::kHeadDim) loaded[k][pair] = load<8>(output + column(pair));
        }
      }
#pragma unroll
      for (int k = 0; k < kAtOnce; ++k) {
        const float weight = shuffle(own_weight, i + k);
        if (i + k >= count) continue;
#pragma unroll
        for (int pair = 0; pair < kPairs; ++pair) {
          value[pair][0] += weighted(weight, __uint_as_float(loaded[k][pair].value[0]));
          value[pair][1] += weighted(weight, __uint_as_float(loaded[k][pair].value[1]));
        }
      }
    }
  }
};

template <class Config>
inline void combine(const AttentionParameters& parameters) {
  using Element = typename Config::OutputElement;
  using Merged = MergedRow<Config>;
  const long long rows = flat_row(parameters, parameters.batch, 0, 0);
  const long long row =
      static_cast<long long>(block_index()) * (Config::kThreads / kWarpSize) + warp();
  if (row >= rows) return;

  const RowTotal total(parameters.partial_rows + row, rows, parameters.num_splits);
  Merged merged;
#pragma unroll 1
  for (int first = 0; first < parameters.num_splits; first += kWarpSize) {
    merged.add(parameters, total, row, first);
  }

  const long long flat_head = row / parameters.seqlen_q;
  Element* destination =
      tensor_row<Element>(parameters.output, flat_head / parameters.heads,
                          flat_head % parameters.heads, row % parameters.seqlen_q);
#pragma unroll
  for (int i = 0; i < Merged::kPairs; ++i) {
    const int column = Merged::column(i);
    if (column >= Config::kHeadDim) continue;
    const auto& pair = merged.value[i];
    // Of a row without keys nothing is left but the -0 that sums begin with.
    const float sign = total.sum == 0.0f ? 0.0f : -0.0f;
    store_pair<Element, Config::kAlignment>(destination + column, pair[0] + sign, pair[1] + sign);
  }
  if (parameters.log_sum_exp != nullptr && lane() == 0) {
    parameters.log_sum_exp[row] =
        merged_log_sum_exp<Config>(parameters, total) + log_sum_exp_shift<Config>(parameters, row);
  }
}

}  // namespace heddle::split
