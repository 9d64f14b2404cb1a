#pragma once
// What the exponents of a row's probabilities are relative to.

#include "instruction/math.cuh"

namespace heddle {

/// Up to here (log2 units) a base may be rounded: that makes every probability of the row, the
/// largest too, 2^(2^-14) times what it should be at most, which no rounding of it to 11 bits can
/// show. Beyond, the largest would be rounded to another number than 1, and in the end overflow.
constexpr float kLargestRoundedBase = 2048.0f;

/// An infinite base is not: nothing can be taken off a score for it.
inline bool is_large_base(float base) {
  return magnitude(base) > kLargestRoundedBase && magnitude(base) < infinity();
}

/// value + residue = one of the row's scores times the scale, in log2 units.
struct ExponentBase {
  float value;    ///< -inf where every score so far is
  float residue;  ///< 0 where probabilities are relative to the rounded value

  static ExponentBase exact(float score, float scale_log2) {
    const float value = rounded_product(score, scale_log2);
    return {value, multiply_add(score, scale_log2, -value)};
  }
};

/// Exponents are relative to 0 where every score so far is -inf: -inf - -inf is NaN.
inline float finite_base(float base) {
  return base == -infinity() ? 0.0f : base;
}

/// What multiplies sums of probabilities that were relative to `from` and shall be to `to`: 0 where
/// there were none.
inline float move_factor(const ExponentBase& from, const ExponentBase& to) {
  if (from.value == -infinity()) return 0.0f;
  return fast_exp2(from.value - to.value + (from.residue - to.residue));
}

/// The same of a row whose base rises, rounded.
inline float rise_factor(float from, float to) {
  return fast_exp2(from - finite_base(to));
}

}  // namespace heddle
