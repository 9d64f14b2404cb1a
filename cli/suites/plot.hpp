#pragma once
// A plot as one SVG file that stands by itself: light or dark as the reader's browser prefers.

#include <string>
#include <utility>
#include <vector>

namespace heddle {

/// Colours that readers who see red and green alike can tell apart.
enum class Tint { kGrey, kPurple, kGreen, kBlue, kOrange, kSky };

/// What has one colour throughout a plot.
struct Series {
  std::string name;
  Tint tint = Tint::kBlue;
  bool of_others = false;  ///< dashed, or hatched by half: not measured in this run
  std::vector<std::pair<double, double>> points = {};
};

/// One pair of axes with lines.
struct Panel {
  std::string title;
  std::vector<Series> series;
};

/// Bars beside each other: of which series, how long.
struct BarGroup {
  std::string label;
  std::vector<std::pair<std::size_t, double>> bars;
};

/// Panels, two a row; or groups of horizontal bars.
struct Plot {
  std::string title;
  std::string x_name;  ///< of panels
  std::string y_name;  ///< what lines show, and bars
  bool logarithmic_x = false;
  bool logarithmic_y = false;
  std::vector<Panel> panels = {};
  std::vector<Series> bar_series = {};  ///< names and colours; no points
  std::vector<BarGroup> groups = {};
  std::vector<std::string> notes = {};  ///< small print below
};

std::string plot_svg(const Plot& plot);

}  // namespace heddle
