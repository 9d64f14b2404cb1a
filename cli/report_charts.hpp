#pragma once
// Charts as SVG or HTML text, coloured by the page's style sheet.

#include <string>
#include <utility>
#include <vector>

#include "cli/chart_axis.hpp"

namespace heddle {

struct Point {
  double x = 0;
  double y = 0;
  std::string label;  ///< shown on hovering, and read aloud
};

/// A line that falls in steps, linear axes; y from a little below the least value.
std::string step_chart(const std::vector<Point>& points, const std::string& x_name,
                       const std::string& y_name);

/// A roof: min(peak, x * slope).
struct Roof {
  std::string name;
  double peak = 0;
  double slope = 0;
};
/// Points under their roofs, lowest first; logarithmic axes.
std::string roofline_chart(const std::vector<Point>& points, const std::vector<Roof>& roofs);

/// A row for each: label, bar, figure. Bars begin at `from`.
struct Bar {
  std::string label;
  double value = 0;
  std::string figure;
};
std::string bar_list(const std::vector<Bar>& bars, double from = 0);

}  // namespace heddle
