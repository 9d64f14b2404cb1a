#pragma once
// Correctly scaled exponentials and logarithms, float64 and fp32, for the kernels that judge
// others.

namespace heddle {

inline double precise_exp(double x) {
  return exp(x);
}
inline float precise_exp(float x) {
  return expf(x);
}

inline double precise_log(double x) {
  return log(x);
}
inline float precise_log(float x) {
  return logf(x);
}

}  // namespace heddle
