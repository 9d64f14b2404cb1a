#pragma once
// What charts have in common, whatever draws them.

#include <string>
#include <vector>

namespace heddle {

std::string escape_html(const std::string& text);

/// A range of values on a line of pixels.
struct Axis {
  double low = 0, high = 1;
  double first = 0, last = 1;  ///< pixels
  bool logarithmic = false;

  double operator()(double value) const;
};

/// 1, 2 or 5 times a power of ten, about `count` of them; or the powers of ten.
std::vector<double> ticks_of(const Axis& axis, int count);

}  // namespace heddle
