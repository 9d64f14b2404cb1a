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
#include "part/lane_row.cuh"
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
  static constexpr int kColumns = LaneRow<Config>::kColumns;

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
    find_largest();
    add_values();
  }

  /// The normalised row.
  LaneRow<Config> row() const {
    const WorkItem& item = mask_.item;
    const float descale = value_descale<Config>(parameters_, item.batch, item.kv_head);
    const double factor = static_cast<double>(descale) / sum_;  // a routine of its own: only one
    const float* means = value_mean<Config>(parameters_, item.batch, item.kv_head);
    LaneRow<Config> row;
    row.fill([&](int c, int column) {
      const auto entry = static_cast<float>(output_[c] * factor);
      return means == nullptr ? entry : entry + means[column];
    });
    return row;
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
  template <class Entry>
  void store_to(Entry* stored) const {
    row().for_each([&](int column, float entry) { set_to(stored[column], entry); });
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

  void find_largest() {
#pragma unroll 1
    for (int key = first_key_ + lane(); key < end_key_; key += kWarpSize) {
      if (!sees(key)) continue;
      const double logit = score(key);
      if (logit > largest_) largest_ = logit;
    }
    largest_ = reduce_lanes<kWarpSize, 1>(
        largest_, [](double left, double right) { return right > left ? right : left; });
  }

  /// Each lane finds the probability of a key; then all add the keys' values, a column each.
  void add_values() {
#pragma unroll 1
    for (int first = first_key_; first < end_key_; first += kWarpSize) {
      const int own = first + lane();
      float probability = 0.0f;
      if (sees(own)) {
        const double exponent =
            (score(own) - largest_) * static_cast<double>(parameters_.scale_log2);
        probability = fast_exp2(static_cast<float>(exponent));
      }
      sum_ += static_cast<double>(probability);
      const float rounded = to_float(from_float<OutputElement>(probability));
#pragma unroll 1
      for (int i = 0; i < kWarpSize; ++i) {
        const float weight = shuffle(rounded, i);
        if (sees(first + i)) add_value(first + i, weight);
      }
    }
    sum_ = lane_sum<kWarpSize, 1>(sum_);
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

/// Which of a thread's rows of a fragment have a large base, a bit each.
template <int kThreadRows>
inline unsigned large_rows(const float (&bases)[kThreadRows]) {
  unsigned large = 0;
#pragma unroll
  for (int row = 0; row < kThreadRows; ++row) large |= is_large_base(bases[row]) ? 1u << row : 0u;
  return large;
}

/// The same of one of the warp's rows, for all lanes.
inline bool is_large_row(unsigned large, int row) {
  return ((shuffle(large, 4 * (row % 8)) >> (row / 8)) & 1u) != 0;
}

/// Calls redo(row) with each of a warp's rows whose base is large, after all have been stored.
template <int kThreadRows, class Redo>
inline void for_each_large_row(const float (&bases)[kThreadRows], Redo redo) {
  const unsigned large = large_rows(bases);
  if (!warp_any(large != 0)) return;
  sync_warp();
#pragma unroll 1
  for (int row = 0; row < 8 * kThreadRows; ++row) {
    if (is_large_row(large, row)) redo(row);
  }
}

}  // namespace heddle
