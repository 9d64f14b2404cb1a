#include "cli/chart_axis.hpp"

#include <algorithm>
#include <cmath>

namespace heddle {

double Axis::operator()(double value) const {
  const auto place = [&](double v) { return logarithmic ? std::log10(std::max(v, 1e-30)) : v; };
  const double extent = place(high) - place(low);
  const double share = extent > 0 ? (place(value) - place(low)) / extent : 0.5;
  return first + std::clamp(share, 0.0, 1.0) * (last - first);
}

std::vector<double> ticks_of(const Axis& axis, int count) {
  std::vector<double> ticks;
  if (axis.logarithmic) {
    // A few decades: 2 and 5 between them.
    const bool fine = axis.high / axis.low < 1000;
    for (double power = std::pow(10, std::floor(std::log10(axis.low))); power <= axis.high;
         power *= 10) {
      for (const double factor : {1.0, 2.0, 5.0}) {
        const double tick = factor * power;
        const bool wanted = tick >= axis.low && tick <= axis.high && (fine || factor == 1);
        if (wanted) ticks.push_back(tick);
      }
    }
    return ticks;
  }
  const double rough = std::max(axis.high - axis.low, 1e-12) / count;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  double step = power;
  for (const double factor : {2.0, 5.0, 10.0}) {
    if (step < rough) step = factor * power;
  }
  for (double tick = std::ceil(axis.low / step) * step; tick <= axis.high; tick += step) {
    ticks.push_back(tick);
  }
  return ticks;
}

std::string escape_html(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

}  // namespace heddle
