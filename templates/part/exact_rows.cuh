#pragma once
// Rows whose logits are so large that the base of their exponents may not be rounded
// (part/exponent_base.cuh). What the main loop leaves of such a row is of no use, so a warp works
// it out again from global memory: two passes over the keys, sums in double. Small, slow, and
// rarely run: the main loop knows nothing of it.

#include "instruction/math.cuh"
#include "instruction/thread.cuh"
#include "instruction/types.cuh"
#include "part/block_range.cuh"
#include "part/descale.cuh"
#include "part/exponent_base.cuh"
#include "part/log_sum_exp.cuh"
#include "part/mask.cuh"
#include "part/reduce_lanes.cuh"
#include "part/stored_entry.cuh"
#include "part/value_entry.cuh"

namespace heddle {

/// One query row over the keys of `range`. All lanes of a warp work on it together.
template <class Config>
class ExactRow {
  using Element = typename Config::Element;
  using OutputElement = typename Config::OutputElement;
  static constexpr int kColumns = ceil_divide(Config::kHeadDim, kWarpSize);

 public:
  /// `head` counts from the item's.
  ExactRow(const AttentionParameters& parameters, const Mask<Config>& mask, const BlockRange& range,
           int query, int head = 0)
      : parameters_(parameters),
        mask_(mask),
        query_(query),
        head_(head),
        first_key_(range.begin * Config::kTileN),
        end_key_(minimum(range.end * Config::kTileN, mask.sequence.key_length)) {
    walk_keys();
  }

  /// Calls store(column, entry) for this lane's entries of the normalised row.
  template <class Store>
  void store(Store store) const {
    const WorkItem& item = mask_.item;
    const float descale = value_descale<Config>(parameters_, item.batch, item.kv_head);
    const double factor = static_cast<double>(descale) * inverse(sum_);
    const float* means = value_mean<Config>(parameters_, item.batch, item.kv_head);
#pragma unroll
    for (int c = 0; c < kColumns; ++c) {
      const int column = lane() + c * kWarpSize;
      if (column >= Config::kHeadDim) continue;
      const auto entry = static_cast<float>(output_[c] * factor);
      store(column, means == nullptr ? entry : entry + means[column]);
    }
  }

  /// In O, or among the partial results of a split.
  void store() const {
    const WorkItem& item = mask_.item;
    if constexpr (Config::kSplitKv) {
      store_to(parameters_.partial_output + row_index() * Config::kHeadDim);
    } else {
      store_to(
          tensor_row<OutputElement>(parameters_.output, item.batch, item.head + head_, query_));
    }
  }

  /// The row's log-sum-exp, or what it is combined by.
  void store_weight() const {
    if (lane() != 0) return;
    const PartialRow own = weight();
    if constexpr (Config::kSplitKv) {
      parameters_.partial_rows[row_index()] = own;
    } else if (parameters_.log_sum_exp != nullptr) {
      const long long at = row_index();
      parameters_.log_sum_exp[at] = log_sum_exp({own.base, own.residue}, own.sum,
                                                parameters_.scale_log2_excess, kTruncationOfLarge) +
                                    log_sum_exp_shift<Config>(parameters_, at);
    }
  }

 private:
  /// A division is a long routine, and takes as long to compile. Two steps of Newton's from fp32
  /// leave less than what the result is rounded by.
  static double inverse(double sum) {
    double inverse = static_cast<double>(fast_reciprocal(static_cast<float>(sum)));
#pragma unroll
    for (int step = 0; step < 2; ++step) inverse += inverse * (1.0 - sum * inverse);
    return inverse;
  }

  template <class Entry>
  void store_to(Entry* row) const {
    store([&](int column, float entry) { set_to(row[column], entry); });
  }

  long long row_index() const {
    const WorkItem& item = mask_.item;
    const int head = item.head + head_;
    if constexpr (Config::kSplitKv) {
      return partial_row(parameters_, item.split, item.batch, head, query_);
    } else {
      return flat_row(parameters_, item.batch, head, query_);
    }
  }

  PartialRow weight() const {
    const double base = largest_ * static_cast<double>(parameters_.scale_log2);
    const auto value = static_cast<float>(base);
    const auto residue = static_cast<float>(base - static_cast<double>(value));
    return {value, residue, static_cast<float>(sum_)};
  }

  bool sees(int key) const {
    return key < end_key_ && mask_.visible(query_, key, head_);
  }

  double score(int key) const {
    const WorkItem& item = mask_.item;
    const Element* query =
        tensor_row<const Element>(parameters_.query, item.batch, item.head + head_, query_);
    const Element* keys = tensor_row<const Element>(parameters_.key, item.batch, item.kv_head, key);
    double sum = 0.0;
#pragma unroll 1
    for (int column = 0; column < Config::kHeadDim; ++column) {
      const Element left = query[column];  // part/sanitize.cuh says why copies
      const Element right = keys[column];
      sum += static_cast<double>(to_float(left)) * static_cast<double>(to_float(right));
    }
    if constexpr (Config::kScaledInputs) {
      const float factor =
          query_descale<Config>(parameters_, item.batch, item.head + head_, query_);
      sum *= static_cast<double>(factor) *
             static_cast<double>(key_descale<Config>(parameters_, item.batch, item.kv_head, key));
    }
    return mask_.hooked_score(sum, static_cast<double>(parameters_.scale), query_, key, head_);
  }

  /// Twice over the keys, each lane with one of its own: for the largest logit, and then, with all
  /// lanes a column each, for the sums. One loop for both is sooner compiled, but with scales ptxas
  /// spills for it.
  void walk_keys() {
    constexpr int kPassesInCode = Config::kScaledInputs ? 2 : 1;
#pragma unroll kPassesInCode
    for (int pass = 0; pass < 2; ++pass) {
#pragma unroll 1
      for (int first = first_key_; first < end_key_; first += kWarpSize) {
        const int own = first + lane();
        const bool is_seen = sees(own);
        const double logit = is_seen ? score(own) : 0.0;
        if (pass == 0) {
          if (is_seen && logit > largest_) largest_ = logit;
        } else {
          add_values(first, is_seen, logit);
        }
      }
      if (pass == 0) largest_ = lane_largest(largest_);
    }
    sum_ = lane_sum<kWarpSize, 1>(sum_);
  }

  static double lane_largest(double logit) {
    return reduce_lanes<kWarpSize, 1>(
        logit, [](double left, double right) { return right > left ? right : left; });
  }

  void add_values(int first, bool is_seen, double logit) {
    const double exponent = (logit - largest_) * static_cast<double>(parameters_.scale_log2);
    const float probability = is_seen ? fast_exp2(static_cast<float>(exponent)) : 0.0f;
    sum_ += static_cast<double>(probability);
    const float rounded = to_float(from_float<OutputElement>(probability));
#pragma unroll 1
    for (int i = 0; i < kWarpSize; ++i) {
      const float weight = shuffle(rounded, i);
      if (sees(first + i)) add_value(first + i, weight);
    }
  }

  void add_value(int key, float weight) {
    const WorkItem& item = mask_.item;
#pragma unroll
    for (int c = 0; c < kColumns; ++c) {
      const int column = lane() + c * kWarpSize;
      if (column >= Config::kHeadDim) continue;
      const float value = value_entry<Config>(parameters_, item.batch, item.kv_head, key, column);
      output_[c] += static_cast<double>(weight) * static_cast<double>(value);
    }
  }

  const AttentionParameters& parameters_;
  const Mask<Config>& mask_;
  int query_;
  int head_;
  int first_key_;
  int end_key_;
  double largest_ = -static_cast<double>(infinity());
  double sum_ = 0.0;
  double output_[kColumns] = {};
};

/// Calls redo(row) with each of a warp's rows whose base is large, after all have been stored or
/// staged. The lanes hold the bases as they hold a fragment's rows.
template <int kThreadRows, class Redo>
inline void for_each_large_row(const float (&bases)[kThreadRows], Redo redo) {
  unsigned large = 0;
#pragma unroll
  for (int row = 0; row < kThreadRows; ++row) large |= is_large_base(bases[row]) ? 1u << row : 0u;
  if (!warp_any(large != 0)) return;
  sync_warp();
#pragma unroll 1
  for (int row = 0; row < 8 * kThreadRows; ++row) {
    if ((shuffle(large, 4 * (row % 8)) >> (row / 8)) & 1u) redo(row);
  }
}

}  // namespace heddle
