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
/// bf16, and only while the new maximum weighs less than 2^-3 of what the row has summed up, or
/// 2^-2 where as many blocks are still to come. A probability of exactly 1 is
/// rounded without error, one above it is not: where such a key made up a quarter of the output,
/// its rounding alone used up what the numerical contract allows.
constexpr float kLazyRescaleThreshold = 8.0f;
/// The same of probabilities that are 2^shift times as large: e4m3 ends below 2^9.
constexpr float lazy_threshold(int shift) {
  return shift == 0 ? kLazyRescaleThreshold : 8.0f - static_cast<float>(shift);
}
/// Of e4m3 less than 2^-4: a probability above 1 is rounded by up to 2^-4 of it as any other one,
/// but 16-bit outputs hide none of that, as they hide what 16-bit probabilities lose.
constexpr float lazy_weight_log2(int blocks, int remaining, int shift = 0) {
  if (shift != 0) return 4.0f;
  return blocks <= remaining ? 2.0f : 3.0f;
}
/// No tile has so many key blocks.
constexpr int kNoBlock = 1 << 30;

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

/// The largest entry of each of a thread's rows at half the price, where one is not negative: such
/// floats have the order of their bits, and three integers are compared at once. Of negative ones
/// it is some entry; NaN may stand for the largest.
template <int kRowTiles, int kColumnTiles>
inline void nonnegative_maximum(float (&maxima)[2 * kRowTiles],
                                const Accumulator<kRowTiles, kColumnTiles>& scores) {
#pragma unroll
  for (int row = 0; row < 2 * kRowTiles; ++row) {
    const int half = 2 * (row % 2);
    int largest = __float_as_int(scores.value[row / 2][0][half]);
#pragma unroll
    for (int c = 0; c < kColumnTiles; ++c) {
      const float* pair = &scores.value[row / 2][c][half];
      if (c > 0) largest = maximum(largest, __float_as_int(pair[0]));
      largest = maximum(largest, __float_as_int(pair[1]));
    }
    maxima[row] = __int_as_float(largest);
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

  /// Moves the rows' references, and `output` with them, where the scores demand it. Whether any
  /// row of the warp may have moved.
  template <int kColumnTiles, int kOutputTiles, class Scale>
  bool follow(const Accumulator<kRowTiles, kColumnTiles>& scores,
              Accumulator<kRowTiles, kOutputTiles>& output, const Scale& scale_log2) {
    float maxima[kRows];
    if constexpr (kLazyRescale) {
      nonnegative_maximum(maxima, scores);
      if (!warp_any(any_may_pass(maxima, scale_log2))) return false;
      bool all_certain = true;
#pragma unroll
      for (float& largest : maxima) {
        largest = lane_maximum<kRowLanes>(largest);
        all_certain = all_certain && largest >= 0.0f;
      }
      if (!warp_all(all_certain)) row_maximum(maxima, scores);
    } else {
      row_maximum(maxima, scores);
    }
    move(maxima, output, scale_log2);
    return true;
  }

  /// The same of rows that have seen nothing yet.
  template <int kColumnTiles, int kOutputTiles, class Scale>
  void begin(const Accumulator<kRowTiles, kColumnTiles>& scores,
             Accumulator<kRowTiles, kOutputTiles>& output, const Scale& scale_log2) {
    float maxima[kRows];
    row_maximum(maxima, scores);
    move(maxima, output, scale_log2);
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

  /// The softmax of the first block, and of another one: whether any row of the warp may have
  /// moved.
  template <int kColumnTiles, int kOutputTiles, class Scale>
  void absorb_first(Accumulator<kRowTiles, kColumnTiles>& scores,
                    Accumulator<kRowTiles, kOutputTiles>& output, const Scale& scale_log2) {
    begin(scores, output, scale_log2);
    exponentiate(scores, scale_log2);
  }
  template <int kColumnTiles, int kOutputTiles, class Scale>
  bool absorb(Accumulator<kRowTiles, kColumnTiles>& scores,
              Accumulator<kRowTiles, kOutputTiles>& output, const Scale& scale_log2,
              int /*block*/) {
    const bool may_have_moved = follow(scores, output, scale_log2);
    exponentiate(scores, scale_log2);
    return may_have_moved;
  }

  /// Sets the limits by what the blocks absorbed so far have added to the sums, so many being still
  /// to come. It takes nothing from the scores of the next one: it belongs where those are waited
  /// for.
  void settle(int blocks, int remaining) {
    if (!kLazyRescale) return;
    const float weight_log2 = lazy_weight_log2(blocks, remaining, kShift);
#pragma unroll
    for (int row = 0; row < kRows; ++row) {
      limit[row] = reference[row] + lazy_range(row_sum(row), weight_log2);
    }
  }

  /// After how many blocks to look at the sums again: when they have about doubled.
  static int settles_next(int blocks) {
    return kLazyRescale ? 2 * blocks : kNoBlock;
  }
  void settle_if_due(int blocks, int remaining) {
    if (blocks > 0 && (blocks & (blocks - 1)) == 0) settle(blocks, remaining);
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
  static float lazy_range(float row_sum, float weight_log2) {
    constexpr float kThreshold = lazy_threshold(kShift);
    const float least = weight_log2 + static_cast<float>(kShift);
    const float range = maximum(fast_log2(row_sum) - least, 0.0f);
    return range < kThreshold ? range : kThreshold;
  }

  /// Whether a row may be beyond its limit, by what nonnegative_maximum says of the thread's
  /// entries: where it may be wrong, yes.
  template <class Scale>
  bool any_may_pass(const float (&largest)[kRows], const Scale& scale_log2) const {
    bool any = false;
#pragma unroll
    for (int row = 0; row < kRows; ++row) {
      const bool stays = largest[row] * scale_at(scale_log2, row) <= limit[row];
      any |= !(stays & (limit[row] >= 0.0f));
    }
    return any;
  }

  /// Rows whose maximum is beyond their limit go there; others are multiplied by exactly 1.
  template <int kOutputTiles, class Scale>
  void move(const float (&maxima)[kRows], Accumulator<kRowTiles, kOutputTiles>& output,
            const Scale& scale_log2) {
#pragma unroll
    for (int row = 0; row < kRows; ++row) {
      const float maximum_log2 = maxima[row] * scale_at(scale_log2, row);
      const float moved = maximum_log2 > limit[row] ? maximum_log2 : reference[row];
      const float factor = rise_factor(reference[row], moved);
      const float exact = moved == reference[row] ? 1.0f : factor;
      sum[row] *= exact;
      reference[row] = moved;
      limit[row] = maximum(limit[row], moved);
      output.for_row(row, [&](float& entry) { entry *= exact; });
    }
  }
};

}  // namespace heddle
