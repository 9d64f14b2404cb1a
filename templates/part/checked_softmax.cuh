#pragma once
// Online softmax that looks for a row's maxima only in the first blocks. Later ones are
// exponentiated at once and checked by what they add to the row's sum, which costs nothing extra.

#include "instruction/math.cuh"
#include "instruction/thread.cuh"
#include "part/reduce_lanes.cuh"
#include "part/softmax.cuh"

namespace heddle {

constexpr float kLazyWeight = 0x1p-3f;
/// A thread's share of a block is never allowed to be more: it has to be in fp16.
constexpr float kLargestShare = 0x1p12f;
/// Beyond this the sums of probabilities may overflow.
constexpr float kLargestProbability = 0x1p120f;

/// A row is watched, and its maxima may move its reference as with the lazy rescale, or checked:
/// then its reference stays where it is. A thread whose share of a block weighs no more than 2^-3
/// of the row's sum, or no more than 1, holds no probability above that, and such a newcomer may
/// pass the reference (part/softmax.cuh). With any other share the row's probabilities are scaled
/// down to its new maximum, and the row is watched again. Where one of them has overflowed, the row
/// leaves the block out: whoever multiplies makes up for it at the tile's end, when there is
/// nothing in flight that needs registers (part/lost_blocks.cuh). All of this is each row's own:
/// votes only say whether any row needs a branch. References only rise, and a row whose logits
/// leave the range of rounded bases ends with one outside too (part/exact_rows.cuh).
template <int kRowTiles>
struct CheckedSoftmax : OnlineSoftmax<kRowTiles, true> {
  using Base = OnlineSoftmax<kRowTiles, true>;
  using Base::kRows;
  /// What `note` holds else than the block that a row has left out. A row has left out none, and
  /// its reference has moved since the last look at it; it has rested since then; it is checked.
  static constexpr int kMoved = -1;
  static constexpr int kRested = -2;
  static constexpr int kChecked = -3;
  static constexpr int kLookBlocks = 4;

  // `limit` of a checked row is that of a thread's share of a block.
  int note[kRows];
  bool watches;  ///< any row of the warp is not checked

  void clear() {
    Base::clear();
    watches = true;
#pragma unroll
    for (int row = 0; row < kRows; ++row) note[row] = kMoved;
  }

  /// Before the scores of the next block are there. A row whose reference has rested from one
  /// fourth block to the next is checked from now on: sooner its sum is too small for shares to be
  /// light.
  void settle(int blocks, int remaining) {
    const bool is_look = blocks % kLookBlocks == 0;
    const float weight_log2 = lazy_weight_log2(blocks, remaining);
    bool any_watched = false;
#pragma unroll
    for (int row = 0; row < kRows; ++row) {
      const float row_sum = this->row_sum(row);
      if (is_look && note[row] == kRested) note[row] = kChecked;
      if (is_look && note[row] == kMoved && row_sum > 0.0f) note[row] = kRested;
      const float watched = this->reference[row] + Base::lazy_range(row_sum, weight_log2);
      this->limit[row] = note[row] == kChecked ? largest_share(row_sum) : watched;
      any_watched = any_watched || note[row] != kChecked;
    }
    watches = warp_any(any_watched);
  }

  static int settles_next(int blocks) {
    return blocks < kLookBlocks ? 2 * blocks : blocks + kLookBlocks;
  }

  /// The softmax of a block. `output` is multiplied by what the rows' references moved, if the
  /// answer is that one may have.
  template <int kColumnTiles, int kOutputTiles>
  bool absorb(Accumulator<kRowTiles, kColumnTiles>& scores,
              Accumulator<kRowTiles, kOutputTiles>& output, float scale_log2, int block) {
    bool may_have_moved = watches && watch(scores, output, scale_log2);
    float shares[kRows];
    this->to_probabilities(scores, shares, scale_log2);
    // A watched row's limit is no share's, so this may be in vain; but it is all that checked rows
    // have to do in a block.
    bool any_heavy = false;
#pragma unroll
    for (int row = 0; row < kRows; ++row) any_heavy = any_heavy || shares[row] > this->limit[row];
    if (warp_any(any_heavy) && relieve_heavy(scores, output, shares, block)) may_have_moved = true;
    this->add(shares);
    return may_have_moved;
  }

 private:
  static float largest_share(float row_sum) {
    const float share = maximum(row_sum * kLazyWeight, 1.0f);
    return share < kLargestShare ? share : kLargestShare;
  }

  /// False for NaN, which reaches the row's sum.
  bool is_heavy(int row, float share) const {
    return note[row] == kChecked && share > this->limit[row];
  }

  template <int kColumnTiles, int kOutputTiles>
  bool watch(const Accumulator<kRowTiles, kColumnTiles>& scores,
             Accumulator<kRowTiles, kOutputTiles>& output, float scale_log2) {
    float maxima[kRows];
    float shares_allowed[kRows];
    row_maximum(maxima, scores);
    bool any_beyond = false;
#pragma unroll
    for (int row = 0; row < kRows; ++row) {
      if (note[row] == kChecked) maxima[row] = -infinity();
      shares_allowed[row] = this->limit[row];
      const bool is_beyond = maxima[row] * scale_log2 > this->limit[row];
      if (note[row] == kRested && is_beyond) note[row] = kMoved;
      any_beyond = any_beyond || is_beyond;
    }
    if (!warp_any(any_beyond)) return false;
    this->move(maxima, output, scale_log2);
#pragma unroll
    for (int row = 0; row < kRows; ++row) {
      if (note[row] == kChecked) this->limit[row] = shares_allowed[row];
    }
    return true;
  }

  template <int kColumnTiles, int kOutputTiles>
  bool relieve_heavy(Accumulator<kRowTiles, kColumnTiles>& probabilities,
                     Accumulator<kRowTiles, kOutputTiles>& output, float (&shares)[kRows],
                     int block) {
    bool any_heavy = false;
#pragma unroll
    for (int row = 0; row < kRows; ++row) any_heavy = any_heavy || is_heavy(row, shares[row]);
    if (!warp_any(any_heavy)) return false;
    relieve(probabilities, output, shares, block);
    watches = true;
    return true;
  }

  /// Moves the references of rows with too heavy a share to their largest probability.
  template <int kColumnTiles, int kOutputTiles>
  void relieve(Accumulator<kRowTiles, kColumnTiles>& probabilities,
               Accumulator<kRowTiles, kOutputTiles>& output, float (&shares)[kRows], int block) {
    float largest[kRows];
    row_maximum(largest, probabilities);
#pragma unroll
    for (int row = 0; row < kRows; ++row) {
      const bool heavy = is_heavy(row, lane_maximum<kRowLanes>(shares[row]));
      const bool is_lost = heavy && largest[row] > kLargestProbability;
      const float step = heavy && !is_lost ? maximum(fast_log2(largest[row]), 0.0f) : 0.0f;
      const float factor = raise(row, step);
      if (heavy) this->limit[row] = this->reference[row];
      if (heavy) note[row] = is_lost ? block : kMoved;
      this->sum[row] *= factor;
      shares[row] = is_lost ? 0.0f : shares[row] * factor;
      probabilities.for_row(row, [&](float& entry) { entry = is_lost ? 0.0f : entry * factor; });
      output.for_row(row, [&](float& entry) { entry *= factor; });
    }
  }

  /// Moves a reference up by `step`; what the row's entries have to be multiplied by. A row that
  /// stays may have an infinite one.
  float raise(int row, float step) {
    const float before = this->reference[row];
    const float after = before + step;
    this->reference[row] = after;
    return step == 0.0f ? 1.0f : rise_factor(before, after);
  }
};

/// The softmax of 16 rows of a warp.
template <class Config, bool kCheckedSum = Config::kCheckedSum>
struct WarpSoftmax {
  using Type = OnlineSoftmax<1, Config::kLazyRescale, probability_shift<Config>()>;
};
template <class Config>
struct WarpSoftmax<Config, true> {
  static_assert(!Config::kScaledInputs, "what is checked is the range of 16 bits");
  using Type = CheckedSoftmax<1>;
};

}  // namespace heddle
