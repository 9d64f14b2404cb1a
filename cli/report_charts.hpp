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

/// A roof, min(peak, x * slope), and those that are under it.
struct ChartSeries {
  std::string name;
  double peak = 0;
  double slope = 0;
  std::vector<Point> points;
};
/// Logarithmic axes, a colour for each roof, and a legend below.
std::string roofline_chart(const std::vector<ChartSeries>& series);

/// A row for each: label, bar, figure. Bars begin at `from` and are full at `to`, or, where that is
/// less, at the greatest value.
struct Bar {
  std::string label;
  double value = 0;
  std::string figure;
};
struct BarScale {
  double from = 0;
  double to = 0;
};
std::string bar_list(const std::vector<Bar>& bars, BarScale scale = {});

/// Texts are HTML. On a narrow screen each row stands as a block, its figures under their names.
struct ChartColumn {
  std::string name;
  bool figure = false;
};
std::string table(const std::vector<ChartColumn>& columns,
                  const std::vector<std::vector<std::string>>& rows);

}  // namespace heddle
