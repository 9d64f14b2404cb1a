#pragma once
// Online softmax that looks for a row's maxima only in the first blocks. Later ones are
// exponentiated at once and checked by what they add to the row's sum, which costs nothing extra.

#include "instruction/math.cuh"
#include "instruction/thread.cuh"
#include "part/softmax.cuh"

namespace heddle {

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
/// votes only say whether any row needs a branch.
template <int kRowTiles>
struct CheckedSoftmax : OnlineSoftmax<kRowTiles, true> {
  using Base = OnlineSoftmax<kRowTiles, true>;
  using Base::kRows;
  static constexpr int kNoBlock = -1;

  float allowed[kRows];  ///< of a thread's share of a block; infinite for a watched row
  int lost[kRows];       ///< the block that the row has left out
  unsigned rested;       ///< a bit for each row whose reference has not moved since the last look
  bool watches;          ///< any row of the warp

  void clear() {
    Base::clear();
    rested = 0;
    watches = true;
#pragma unroll
    for (int row = 0; row < kRows; ++row) {
      allowed[row] = infinity();
      lost[row] = kNoBlock;
    }
  }

  /// Now and then, before the scores of `block` are there. A row whose reference has rested from
  /// one look to the next is checked from now on.
  void settle(int block, float scale_log2) {
    if (block % kLazySettleBlocks != 0) return;
    const float inverse_scale = fast_reciprocal(scale_log2);
    watches = false;
#pragma unroll
    for (int row = 0; row < kRows; ++row) {
      const float row_sum = this->row_sum(row);
      const bool is_settled = lost[row] == kNoBlock && row_sum > 0.0f &&
                              !is_large_base(this->reference[row] * scale_log2);
      if (is_checked(row) || (is_settled && (rested >> row & 1u) != 0)) {
        const float share = maximum(row_sum * fast_exp2(-kLazyWeightLog2), 1.0f);
        allowed[row] = share < kLargestShare ? share : kLargestShare;
        this->limit[row] = infinity();
      } else {
        if (is_settled) rested |= 1u << row;
        this->limit[row] =
            multiply_add(Base::lazy_range(row_sum), inverse_scale, this->reference[row]);
        watches = true;
      }
    }
    watches = warp_any(watches);
  }

  /// The softmax of a block. `output` is multiplied by what the rows' references moved.
  template <int kColumnTiles, int kOutputTiles>
  void absorb(Accumulator<kRowTiles, kColumnTiles>& scores,
              Accumulator<kRowTiles, kOutputTiles>& output, float scale_log2, int block) {
    if (watches) watch(scores, output, scale_log2);
    float shares[kRows];
    this->to_probabilities(scores, shares, scale_log2);
    bool any_heavy = false;
#pragma unroll
    for (int row = 0; row < kRows; ++row) any_heavy = any_heavy || shares[row] > allowed[row];
    if (warp_any(any_heavy)) relieve(scores, output, shares, scale_log2, block);
    this->add(shares);
  }

 private:
  bool is_checked(int row) const {
    return allowed[row] != infinity();
  }

  template <int kColumnTiles, int kOutputTiles>
  void watch(const Accumulator<kRowTiles, kColumnTiles>& scores,
             Accumulator<kRowTiles, kOutputTiles>& output, float scale_log2) {
    float before[kRows];
#pragma unroll
    for (int row = 0; row < kRows; ++row) before[row] = this->reference[row];
    Base::follow(scores, output, scale_log2);
#pragma unroll
    for (int row = 0; row < kRows; ++row) {
      if (this->reference[row] != before[row]) rested &= ~(1u << row);
    }
  }

  /// Moves the references of rows with too heavy a share to their largest probability.
  template <int kColumnTiles, int kOutputTiles>
  void relieve(Accumulator<kRowTiles, kColumnTiles>& probabilities,
               Accumulator<kRowTiles, kOutputTiles>& output, float (&shares)[kRows],
               float scale_log2, int block) {
    float largest[kRows];
    row_maximum(largest, probabilities);
    watches = true;
#pragma unroll
    for (int row = 0; row < kRows; ++row) {
      float share = maximum(shares[row], shuffle_xor(shares[row], 1));
      share = maximum(share, shuffle_xor(share, 2));
      if (!(share > allowed[row])) continue;
      allowed[row] = infinity();
      rested &= ~(1u << row);
      if (largest[row] > kLargestProbability) {
        lost[row] = block;
        shares[row] = 0.0f;
        probabilities.for_row(row, [](float& entry) { entry = 0.0f; });
      } else {
        const float factor = raise(row, maximum(fast_log2(largest[row]), 0.0f), scale_log2);
        this->sum[row] *= factor;
        shares[row] *= factor;
        probabilities.for_row(row, [&](float& entry) { entry *= factor; });
        output.for_row(row, [&](float& entry) { entry *= factor; });
      }
      this->limit[row] = this->reference[row];
    }
  }

  /// Moves a reference up by `step` (log2 units); what the row's entries have to be multiplied by.
  float raise(int row, float step, float scale_log2) {
    const float before = this->reference[row];
    this->reference[row] = multiply_add(step, fast_reciprocal(scale_log2), before);
    return move_factor(before, this->reference[row], scale_log2);
  }
};

/// The softmax of 16 rows of a warp.
template <bool kLazyRescale, bool kCheckedSum>
struct WarpSoftmax {
  using Type = OnlineSoftmax<1, kLazyRescale>;
};
template <bool kLazyRescale>
struct WarpSoftmax<kLazyRescale, true> {
  using Type = CheckedSoftmax<1>;
};

}  // namespace heddle
