#include "cli/suites/plot_lines.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "cli/chart_axis.hpp"

namespace heddle {
namespace {

constexpr double kPlotHeight = 136;
constexpr double kPanelHead = 24, kPanelFoot = 24;
constexpr double kTickRoom = 44;   ///< left of the axis
constexpr double kInset = 8;       ///< marks do not touch the frame
constexpr double kLabelStep = 15;  ///< between the names of two lines

/// Where a panel is, without the room for the names of its lines.
struct Frame {
  double left, right, top, bottom;
};

/// What a panel's axes have to hold.
struct Extent {
  double low_x = HUGE_VAL, high_x = -HUGE_VAL, low_y = HUGE_VAL, high_y = -HUGE_VAL;
  std::set<double> places;

  explicit Extent(const Panel& panel) {
    for (const Series& series : panel.series) {
      for (const auto& [x, y] : series.points) {
        low_x = std::min(low_x, x), high_x = std::max(high_x, x);
        low_y = std::min(low_y, y), high_y = std::max(high_y, y);
        places.insert(x);
      }
    }
  }
  bool empty() const { return places.empty(); }
};

const std::string& label_of(const Series& series) {
  return series.label.empty() ? series.name : series.label;
}

/// For the longest name at a line's end, in any panel.
double label_room(const Plot& plot) {
  std::size_t letters = 0;
  for (const Panel& panel : plot.panels) {
    for (const Series& series : panel.series) {
      if (!series.points.empty()) letters = std::max(letters, label_of(series).size());
    }
  }
  constexpr double kLead = 16;
  return kLead + kBoldLetterWidth * static_cast<double>(letters);
}

/// Ticks that have room for their numbers: where 2 and 5 have none, the powers of ten.
std::vector<double> ticks_with_room(const Axis& y) {
  std::vector<double> ticks = ticks_of(y, 5);
  const auto crowded = [&](double left, double right) {
    return std::abs(y(right) - y(left)) < kLabelStep;
  };
  if (!y.logarithmic || std::adjacent_find(ticks.begin(), ticks.end(), crowded) == ticks.end()) {
    return ticks;
  }
  std::erase_if(ticks, [](double tick) {
    const double power = std::log10(tick);
    return std::abs(power - std::round(power)) > 1e-6;
  });
  return ticks;
}

std::string grid(const Axis& x, const Axis& y, const Frame& frame,
                 const std::vector<double>& places) {
  std::string text;
  for (const double tick : ticks_with_room(y)) {
    text += grid_line(frame.left, y(tick), frame.right, y(tick));
    text += text_at(frame.left - 6, y(tick) + 5, "tick", "end", fmt::format("{:g}", tick));
  }
  for (const double tick : places) {
    text += grid_line(x(tick), frame.bottom, x(tick), frame.top);
    text += text_at(x(tick), frame.bottom + 16, "tick", "middle", tick_number(tick));
  }
  return text;
}

std::string line_of(const Series& series, const Axis& x, const Axis& y) {
  std::string path, marks;
  for (const auto& [place, value] : series.points) {
    path += fmt::format("{}{:.1f} {:.1f} ", path.empty() ? 'M' : 'L', x(place), y(value));
    marks += mark_at(x(place), y(value), series,
                     fmt::format("{}: {:.4g} at {:g}", series.name, value, place));
  }
  if (path.empty()) return {};
  return fmt::format("<path class=\"{}\" d=\"{}\" />\n", classes_of(series, "line"), path) + marks;
}

/// A line's end and where its name stands.
struct EndLabel {
  const Series* series;
  double x, y, label_y;
};

/// Downwards as the ends come, apart by a line of text, within the frame where they fit.
void spread(std::vector<EndLabel>& labels, const Frame& frame) {
  std::stable_sort(labels.begin(), labels.end(),
                   [](const EndLabel& left, const EndLabel& right) { return left.y < right.y; });
  double least = frame.top - kInset;
  for (EndLabel& label : labels) {
    label.label_y = std::max(label.y, least);
    least = label.label_y + kLabelStep;
  }
  double most = frame.bottom + kInset;
  for (auto label = labels.rbegin(); label != labels.rend(); ++label) {
    label->label_y = std::min(label->label_y, most);
    most = label->label_y - kLabelStep;
  }
}

std::string end_labels(const Panel& panel, const Axis& x, const Axis& y, const Frame& frame) {
  std::vector<EndLabel> labels;
  std::set<std::string> named;
  for (const Series& series : panel.series) {
    if (series.points.empty()) continue;
    const auto& [place, value] = series.points.back();
    // A line that ends before the others has its name in the legend alone: no lead crosses them.
    if (place < x.high || !named.insert(label_of(series)).second) continue;
    labels.push_back({&series, x(place), y(value), 0});
  }
  spread(labels, frame);
  std::string text;
  for (const EndLabel& label : labels) {
    text += fmt::format("<path class=\"{}\" d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\" />\n",
                        classes_of(*label.series, "lead"), label.x + 6, label.y, frame.right + 8,
                        label.label_y);
    text += text_at(frame.right + 11, label.label_y + 5, classes_of(*label.series, "end"), "start",
                    label_of(*label.series));
  }
  return text;
}

std::string panel_shapes(const Plot& plot, const Panel& panel, const Frame& frame) {
  const std::string title = plot.y_name.empty() ? panel.title : panel.title + ": " + plot.y_name;
  std::string shapes = text_at(frame.left, frame.top - 10, "panel", "start", title);
  const Extent extent(panel);
  if (extent.empty()) {
    return shapes + text_at(frame.left, frame.top + 20, "note", "start", "nothing was measured");
  }
  constexpr double kLogarithmicRoom = 1.5, kLinearRoom = 1.08;
  const double low_y = plot.logarithmic_y ? extent.low_y / kLogarithmicRoom : 0;
  const double high_y = extent.high_y * (plot.logarithmic_y ? kLogarithmicRoom : kLinearRoom);
  const Axis y{low_y, high_y, frame.bottom, frame.top, plot.logarithmic_y};
  const Axis x{extent.low_x, extent.high_x, frame.left + kInset, frame.right - kInset,
               plot.logarithmic_x};
  constexpr std::size_t kMostPlaces = 8;
  const std::vector<double> places = extent.places.size() <= kMostPlaces
                                         ? std::vector(extent.places.begin(), extent.places.end())
                                         : ticks_of(x, 6);
  shapes += grid(x, y, frame, places);
  // Those of others below: where two coincide, this run's is seen.
  for (const bool of_others : {true, false}) {
    for (const Series& series : panel.series) {
      if (series.of_others == of_others) shapes += line_of(series, x, y);
    }
  }
  return shapes + end_labels(panel, x, y, frame);
}

}  // namespace

void draw_panels(Sheet& sheet, const Plot& plot) {
  const double room = label_room(plot);
  const bool alone = plot.panels.size() == 1;
  const double width = (kSheetWidth - kSheetMargin) / (alone ? 1 : 2);
  for (std::size_t i = 0; i < plot.panels.size(); ++i) {
    const bool on_right = i % 2 == 1;
    const double left = on_right ? width : 0, top = sheet.y() + kPanelHead + 10;
    sheet.add(panel_shapes(plot, plot.panels[i],
                           {left + kTickRoom, left + width - room, top, top + kPlotHeight}));
    if (on_right || i + 1 == plot.panels.size()) {
      sheet.y() += kPanelHead + kPlotHeight + kPanelFoot + 8;
    }
  }
  // What runs along all axes is said once, below the last row.
  const std::size_t columns = std::min<std::size_t>(plot.panels.size(), 2);
  for (std::size_t c = 0; c < columns; ++c) {
    const double left = width * static_cast<double>(c) + kTickRoom;
    sheet.add(text_at((left + width * static_cast<double>(c + 1) - room) / 2, sheet.y() + 10,
                      "note", "middle", plot.x_name));
  }
  sheet.y() += kTextLine;
}

}  // namespace heddle
