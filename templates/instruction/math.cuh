#pragma once
// Scalar arithmetic with one hardware instruction each, and the constants around it.

namespace heddle {

constexpr float kLn2 = 0.693147180559945309f;
constexpr float kLog2E = 1.44269504088896341f;

inline float infinity() {
  return __uint_as_float(0x7f800000u);
}

/// 2^x; 0 for x = -inf, NaN for NaN. Denormal results flush to zero.
inline float fast_exp2(float x) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

/// log2(x); -inf for 0. Absolute error below 2^-22 near 1, exact at powers of two.
inline float fast_log2(float x) {
  float result;
  asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

/// 1 / x within one unit in the last place, for x far from the ends of the range.
inline float fast_reciprocal(float x) {
  float result;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

inline float natural_log(float x) {
  return fast_log2(x) * kLn2;
}

/// a * b + c, rounded once. Spelled out where the error matters: whether a compiler fuses by itself
/// is its own affair, and the CPU's is told not to.
inline float multiply_add(float a, float b, float c) {
  return fmaf(a, b, c);
}

/// a * b, rounded: no compiler fuses it with what is added to it.
inline float rounded_product(float a, float b) {
  return __fmul_rn(a, b);
}

inline float magnitude(float x) {
  return fabsf(x);
}

/// The larger operand; the other one where one is NaN. A NaN logit still poisons its row: it
/// reaches the sum through fast_exp2.
inline float maximum(float a, float b) {
  return fmaxf(a, b);
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
