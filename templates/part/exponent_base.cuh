#pragma once
// What the exponents of a row's probabilities are relative to.

#include "instruction/math.cuh"

namespace heddle {

/// Up to here (log2 units) a base may be rounded: that makes every probability of the row, the
/// largest too, 2^(2^-14) times what it should be at most, which no rounding of it to 11 bits can
/// show. Beyond, the largest would be rounded to another number than 1, and in the end overflow.
constexpr float kLargestRoundedBase = 2048.0f;

inline bool is_large_base(float base) {
  return maximum(base, -base) > kLargestRoundedBase;
}

/// Where every score so far is -inf, exponents are taken relative to 0: -inf - -inf is NaN.
inline float finite_reference(float reference) {
  return reference == -infinity() ? 0.0f : reference;
}

/// value + residue = a row's reference, which is one of its scores, times the scale in log2 units.
struct ExponentBase {
  float value;
  float residue;  ///< 0 where probabilities are relative to the rounded value

  static ExponentBase exact(float reference, float scale_log2) {
    const float value = reference * scale_log2;
    return {value, multiply_add(reference, scale_log2, -value)};
  }
  static ExponentBase of(float reference, float scale_log2) {
    ExponentBase base = exact(finite_reference(reference), scale_log2);
    if (!is_large_base(base.value)) base.residue = 0.0f;
    return base;
  }
};

/// What multiplies sums of probabilities that were relative to `from` and shall be to `to`: 0 where
/// there were none.
inline float move_factor(float from, float to, float scale_log2) {
  const ExponentBase before = ExponentBase::of(from, scale_log2);
  const ExponentBase after = ExponentBase::of(to, scale_log2);
  const float exponent = before.value - after.value + (before.residue - after.residue);
  return fast_exp2(from == -infinity() ? from : exponent);
}

}  // namespace heddle
