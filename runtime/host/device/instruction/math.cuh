#pragma once
// The host twin of templates/instruction/math.cuh.

#include "host_round.cuh"

#ifndef HEDDLE_HOST_KERNEL  // prelude.cuh declares what is needed
#include <math.h>
#endif

namespace heddle {

constexpr float kLn2 = 0.693147180559945309f;
constexpr float kLog2E = 1.44269504088896341f;

inline float infinity() {
  return HUGE_VALF;
}

/// ftz: subnormal operands and results count as zero, with their sign.
inline float flush_subnormal(float x) {
  return fabsf(x) < 0x1p-126f ? copysignf(0.0f, x) : x;
}

inline float fast_exp2(float x) {
  return flush_subnormal(exp2f(flush_subnormal(x)));
}
inline float fast_log2(float x) {
  return log2f(flush_subnormal(x));
}
inline float fast_reciprocal(float x) {
  return flush_subnormal(1.0f / flush_subnormal(x));
}

inline float natural_log(float x) {
  return fast_log2(x) * kLn2;
}

inline float multiply_add(float a, float b, float c) {
  const float sum = fmaf(a, b, c);  // may keep a NaN's payload; fma.f32 makes one NaN of all
  return sum != sum ? host::bits_float(0x7fffffffu) : sum;
}

inline float rounded_product(float a, float b) {
  const float product = a * b;
  return product != product ? host::bits_float(0x7fffffffu) : product;
}

inline float magnitude(float x) {
  return x != x ? host::bits_float(0x7fffffffu) : fabsf(x);
}

inline float maximum(float a, float b) {
  // max.f32 puts -0 before +0 and makes one NaN of two; fmaxf need do neither.
  if (a == 0.0f && b == 0.0f) return a + b;
  return a != a && b != b ? host::bits_float(0x7fffffffu) : fmaxf(a, b);
}

inline int minimum(int a, int b) {
  return a < b ? a : b;
}
inline int maximum(int a, int b) {
  return a > b ? a : b;
}

constexpr int ceil_divide(int a, int b) {
  return a / b + (a % b != 0 ? 1 : 0);
}

}  // namespace heddle
