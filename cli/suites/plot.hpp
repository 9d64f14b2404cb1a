#pragma once
// A plot as one SVG file that stands by itself: light or dark as the reader's browser prefers,
// legible at the width of a telephone, told apart without colour too.

#include <string>
#include <utility>
#include <vector>

namespace heddle {

/// Colours that readers who see red and green alike can tell apart; each has a mark of its own.
enum class Tint { kGrey, kPurple, kGreen, kBlue, kOrange, kSky };

/// What has one colour and one mark throughout a plot.
struct Series {
  std::string name;  ///< in the legend
  Tint tint = Tint::kBlue;
  bool of_others = false;  ///< dashed and hollow: not measured in this run
  std::vector<std::pair<double, double>> points = {};
  std::string label = {};  ///< at the end of its line, once for all of this label; empty = the name
};

/// One pair of axes with lines.
struct Panel {
  std::string title;
  std::vector<Series> series;
};

/// Bars below each other, each with its name: of which series, how long.
struct BarGroup {
  std::string label;
  std::vector<std::pair<std::size_t, double>> bars;
};

/// Panels, two a row; or groups of horizontal bars, which are marks on a scale where it is
/// logarithmic (a bar has no foot there).
struct Plot {
  std::string title;
  std::vector<std::string> about = {};  ///< below the title: shape, type, GPU, date
  std::string x_name;                   ///< of panels, with its unit
  std::string y_name;                   ///< what lines show, and bars, with its unit
  bool logarithmic_x = false;
  bool logarithmic_y = false;
  std::vector<Panel> panels = {};
  std::vector<Series> bar_series = {};  ///< names and colours; no points
  std::vector<BarGroup> groups = {};
  std::vector<std::string> notes = {};  ///< below: method, sources of what others measured
};

std::string plot_svg(const Plot& plot);

}  // namespace heddle
