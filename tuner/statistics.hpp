#pragma once
// What a handful of noisy samples says.

#include <vector>

namespace heddle {

struct MedianInterval {
  double median = 0;
  double low = 0;  ///< of the 95 % confidence interval, from the order of the samples alone
  double high = 0;
  double half_width() const { return (high - low) / 2; }
};
/// All 0 for no samples; for fewer than 6, which cannot tell, the interval is all of them.
MedianInterval median_interval(std::vector<double> samples);

/// left[i] / right[i]: samples taken in turns share the clock that they ran at.
std::vector<double> paired_ratios(const std::vector<double>& left,
                                  const std::vector<double>& right);

}  // namespace heddle
