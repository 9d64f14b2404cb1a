#pragma once
// Dot products of 8-bit elements as Hopper's tensor cores form them, one at a time.

#include "instruction/math.cuh"

namespace heddle {

/// Columns of one instruction. These and the sum so far are aligned to the largest and cut, towards
/// zero, at kCutUnit of it.
constexpr int kCutDepth = 32;
constexpr float kCutUnit = 0x1p-13f;

/// The power of two of a number's leading bit; 0 for 0.
inline float leading_power(float number) {
  return __uint_as_float(__float_as_uint(number) & 0x7f800000u);
}

/// Cut towards zero. Whatever NaN becomes.
inline float whole_part(float number) {
  constexpr float kMost = 0x1p20f;
  return static_cast<float>(static_cast<int>(maximum(number, -kMost)));
}

/// A product's power of two is that of its factors, even where its mantissa passes 2
/// (runtime/testing/cut_scores.cpp does the same).
template <int kColumns>
inline float cut_dot(const float* query, const float* key) {
  float sum = 0.0f;
  float plain = 0.0f;
#pragma unroll 1
  for (int first = 0; first < kColumns; first += kCutDepth) {
    const int end = minimum(first + kCutDepth, kColumns);
    float largest = leading_power(sum);
#pragma unroll 1
    for (int c = first; c < end; ++c) {
      largest = maximum(largest, leading_power(query[c]) * leading_power(key[c]));
    }
    if (largest == 0.0f) continue;
    const float scale = 1.0f / (kCutUnit * largest);  // a power of two
    float units = whole_part(sum * scale);            // whole numbers, so that fp32 is exact
#pragma unroll 1
    for (int c = first; c < end; ++c) {
      const float product = query[c] * key[c];
      plain += product;
      units += whole_part(product * scale);
    }
    // What leaves the tensor core is cut at its own leading bit.
    const float kept = kCutUnit * maximum(leading_power(units), 1.0f / kCutUnit);
    sum = kept * whole_part(units / kept) / scale;
  }
  return plain == plain ? sum : plain;
}

}  // namespace heddle
