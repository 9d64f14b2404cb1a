#include "tuner/statistics.hpp"

#include <algorithm>
#include <cmath>

#include "runtime/measure.hpp"

namespace heddle {

MedianInterval median_interval(std::vector<double> samples) {
  if (samples.empty()) return {};
  std::sort(samples.begin(), samples.end());
  // The number of samples below the true median is binomial(n, 1/2).
  const auto count = static_cast<double>(samples.size());
  const double reach = 1.96 * std::sqrt(count) / 2;
  const auto rank = [&](double position) {
    return static_cast<std::size_t>(std::clamp(position, 0.0, count - 1));
  };
  const std::size_t low = rank(std::floor(count / 2 - reach));
  const std::size_t high = rank(std::ceil(count / 2 + reach));
  return {quantile(samples, 0.5), samples[low], samples[high]};
}

std::vector<double> paired_ratios(const std::vector<double>& left,
                                  const std::vector<double>& right) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
    if (right[i] > 0) ratios.push_back(left[i] / right[i]);
  }
  return ratios;
}

}  // namespace heddle
