#pragma once
// How far sums of 8-bit products may be off, for the check of log-sum-exps.

#include "instruction/precise_math.cuh"
#include "part/cut_dot.cuh"
#include "part/reduce_lanes.cuh"

namespace heddle {

/// Of kRows rows, each shared by kLanes neighbouring threads. Products lose half a cut on average,
/// each by its own sign, and what they lose is spread evenly over a cut
/// (runtime/testing/cut_scores.cpp does the same).
template <int kRows, int kColumns, int kLanes>
class CutError {
 public:
  /// A key that weighs `weight` in row i, and whose scores are multiplied by `scale`.
  void add_key(int i, const float* query, const float* key, double weight, double scale) {
    double sum = 0;
    double largest = 0;
    int signs = 0;
    for (int c = 0; c < kColumns; ++c) {
      const double product = static_cast<double>(query[c]) * static_cast<double>(key[c]);
      const double magnitude = product < 0 ? -product : product;
      sum += product;
      if (magnitude > largest) largest = magnitude;
      signs += product > 0 ? 1 : (product < 0 ? -1 : 0);
    }
    const double total = sum < 0 ? -sum : sum;
    const double cut = static_cast<double>(kCutUnit) * scale * (total > largest ? total : largest);
    const int one_sided = (signs < 0 ? -signs : signs) + kSteps;
    bias_[i] += weight * cut * 0.5 * one_sided;
    variance_[i] += weight * weight * cut * cut * ((kColumns + kSteps) / 3.0);
  }

  /// In the standard deviations that the check allows; equal in the threads that share the row.
  double of_row(int i) const {
    constexpr double kDeviations = 4;
    return lane_sum<kLanes>(bias_[i]) + kDeviations * square_root(lane_sum<kLanes>(variance_[i]));
  }

 private:
  static constexpr int kSteps = ceil_divide(kColumns, kCutDepth);

  /// 0 of 0: exp(-inf).
  static double square_root(double x) { return precise_exp(0.5 * precise_log(x)); }

  double bias_[kRows] = {};
  double variance_[kRows] = {};
};

}  // namespace heddle
