#pragma once
// Online softmax of the rows whose accumulator entries four neighbouring lanes share.

#include "instruction/math.cuh"
#include "instruction/thread.cuh"
#include "part/exponent_base.cuh"
#include "part/fragment.cuh"
#include "part/reduce_lanes.cuh"
#include "part/score_scale.cuh"

namespace heddle {

/// How far (in log2 units) a row's maximum may pass its reference before the lazy rescale moves the
/// reference: at most so far that probabilities stay below 2^8, far inside the range of fp16 and
/// bf16, and only while the new maximum weighs less than 2^-3 of what the row has summed up. A
/// probability of exactly 1 is rounded without error, one above it is not: where such a key made up
/// a quarter of the output, its rounding alone used up what the numerical contract allows.
constexpr float kLazyRescaleThreshold = 8.0f;
/// The same of probabilities that are 2^shift times as large: e4m3 ends below 2^9.
constexpr float lazy_threshold(int shift) {
  return shift == 0 ? kLazyRescaleThreshold : 8.0f - static_cast<float>(shift);
}
constexpr float kLazyWeightLog2 = 3.0f;
/// Key blocks from one look at the sums to the next.
constexpr int kLazySettleBlocks = 4;

/// Largest entry of each thread row over the four lanes that share the row.
template <int kRowTiles, int kColumnTiles>
inline void row_maximum(float (&maxima)[2 * kRowTiles],
                        const Accumulator<kRowTiles, kColumnTiles>& scores) {
#pragma unroll
  for (int row = 0; row < 2 * kRowTiles; ++row) {
    const int half = 2 * (row % 2);
    float largest = maximum(scores.value[row / 2][0][half], scores.value[row / 2][0][half + 1]);
#pragma unroll
    for (int c = 1; c < kColumnTiles; ++c) {
      largest = maximum(largest, scores.value[row / 2][c][half]);
      largest = maximum(largest, scores.value[row / 2][c][half + 1]);
    }
    maxima[row] = lane_maximum<kRowLanes>(largest);
  }
}

/// The state of kRowTiles * 16 rows of one warp. Exponents are taken relative to a reference per
/// row (log2 units, already scaled), and probabilities are 2^kShift times as large, sums too; these
/// are this thread's share until `finish`. A scale is a float, or RowScales.
template <int kRowTiles, bool kLazyRescale, int kShift = 0>
struct OnlineSoftmax {
  static constexpr int kRows = 2 * kRowTiles;

  float reference[kRows];
  float sum[kRows];
  float limit[kRows];  ///< a maximum up to here moves nothing

  void clear() {
#pragma unroll
    for (int row = 0; row < kRows; ++row) {
      reference[row] = -infinity();
      limit[row] = -infinity();
      sum[row] = 0.0f;
    }
  }

  /// Moves the rows' references, and `output` with them, where the scores demand it.
  template <int kColumnTiles, int kOutputTiles, class Scale>
  void follow(const Accumulator<kRowTiles, kColumnTiles>& scores,
              Accumulator<kRowTiles, kOutputTiles>& output, const Scale& scale_log2) {
    float maxima[kRows];
    row_maximum(maxima, scores);
    rescale(maxima, output, scale_log2);
  }

  /// Turns scores into probabilities relative to the references, and adds them to the sums: first
  /// to each other, since thousands of equal ones added to a growing sum would all be rounded
  /// alike.
  template <int kColumnTiles, class Scale>
  void exponentiate(Accumulator<kRowTiles, kColumnTiles>& scores, const Scale& scale_log2) {
    float shares[kRows];
    to_probabilities(scores, shares, scale_log2);
    add(shares);
  }

  /// The softmax of a block: both of the above.
  template <int kColumnTiles, int kOutputTiles, class Scale>
  void absorb(Accumulator<kRowTiles, kColumnTiles>& scores,
              Accumulator<kRowTiles, kOutputTiles>& output, const Scale& scale_log2,
              int /*block*/) {
    follow(scores, output, scale_log2);
    exponentiate(scores, scale_log2);
  }

  /// Sets the limits by what has been added to the sums. It takes nothing from the scores of
  /// `block`, the next one: it belongs where those are waited for. Every block would cost more than
  /// the rescales it saves where the softmax is the bottleneck (docs/performance.md).
  void settle(int block) {
    if (!kLazyRescale || block % kLazySettleBlocks != 0) return;
#pragma unroll
    for (int row = 0; row < kRows; ++row) limit[row] = reference[row] + lazy_range(row_sum(row));
  }

  /// Adds up the four lanes' shares of each sum.
  void finish() {
#pragma unroll
    for (int row = 0; row < kRows; ++row) sum[row] = row_sum(row);
  }

  /// What turns an accumulated output into the result: 0 for a row that saw no key.
  float inverse_sum(int row) const {
    return sum[row] == 0.0f ? 0.0f : fast_reciprocal(sum[row]);
  }

 protected:
  /// `shares`: what the thread's entries of a block add to each row's sum.
  template <int kColumnTiles, class Scale>
  void to_probabilities(Accumulator<kRowTiles, kColumnTiles>& scores, float (&shares)[kRows],
                        const Scale& scale_log2) const {
#pragma unroll
    for (int row = 0; row < kRows; ++row) {
      const float offset = static_cast<float>(kShift) - finite_base(reference[row]);
      const float scale = scale_at(scale_log2, row);
      float block_sum = 0.0f;
      scores.for_row(row, [&](float& score) {
        score = fast_exp2(multiply_add(score, scale, offset));
        block_sum += score;
      });
      shares[row] = block_sum;
    }
  }

  void add(const float (&shares)[kRows]) {
#pragma unroll
    for (int row = 0; row < kRows; ++row) sum[row] += shares[row];
  }

  /// The four lanes' shares together; they agree to the bit.
  float row_sum(int row) const {
    return lane_sum<kRowLanes>(sum[row]);
  }

  /// How far the maximum of a row with this sum may pass its reference.
  static float lazy_range(float row_sum) {
    constexpr float kThreshold = lazy_threshold(kShift);
    constexpr float kWeightLog2 = kLazyWeightLog2 + static_cast<float>(kShift);
    const float range = maximum(fast_log2(row_sum) - kWeightLog2, 0.0f);
    return range < kThreshold ? range : kThreshold;
  }

  template <int kOutputTiles, class Scale>
  void rescale(const float (&maxima)[kRows], Accumulator<kRowTiles, kOutputTiles>& output,
               const Scale& scale_log2) {
    float maxima_log2[kRows];
    bool any_beyond = false;
#pragma unroll
    for (int row = 0; row < kRows; ++row) {
      maxima_log2[row] = maxima[row] * scale_at(scale_log2, row);
      any_beyond = any_beyond || maxima_log2[row] > limit[row];
    }
    // The vote only gates the branch: a row that does not move is multiplied by exactly 1.
    if (kLazyRescale && !warp_any(any_beyond)) return;
#pragma unroll
    for (int row = 0; row < kRows; ++row) {
      const float moved = maxima_log2[row] > limit[row] ? maxima_log2[row] : reference[row];
      const float factor = rise_factor(reference[row], moved);
      const float exact = moved == reference[row] ? 1.0f : factor;
      limit[row] = maximum(limit[row], moved);
      reference[row] = moved;
      sum[row] *= exact;
      output.for_row(row, [&](float& entry) { entry *= exact; });
    }
  }
};

}  // namespace heddle
