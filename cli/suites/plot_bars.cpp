#include "cli/suites/plot_bars.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "cli/chart_axis.hpp"

namespace heddle {
namespace {

constexpr double kBarHeight = 12, kBarStep = 18;
constexpr double kLabelLine = 18, kLabelGap = 4;
constexpr double kGroupGap = 12;
constexpr double kFigureRoom = 46;  ///< right of the longest bar
constexpr double kColumnGap = 16;

/// One column of groups: where names end and where the scale is.
struct Column {
  double left, foot, width;
  std::size_t letters;  ///< of a label's line, at most
};

std::vector<std::string> label_lines(const BarGroup& group, const Column& column) {
  return wrapped(group.label, column.letters);
}

double height_of(const BarGroup& group, const Column& column) {
  const auto bars = static_cast<double>(std::max<std::size_t>(1, group.bars.size()));
  return kLabelLine * static_cast<double>(label_lines(group, column).size()) + kLabelGap +
         kBarStep * bars + kGroupGap;
}

/// The scale of all groups, its pixels yet to be placed.
Axis scale_of(const Plot& plot) {
  double low = HUGE_VAL, high = 0;
  for (const BarGroup& group : plot.groups) {
    for (const auto& [series, value] : group.bars) {
      high = std::max(high, value);
      if (value > 0) low = std::min(low, value);  // powers of ten have no 0: it stands at the foot
    }
  }
  if (high == 0) return {};
  if (!plot.logarithmic_y) return {0, high, 0, 1, false};
  constexpr double kDecade = 10;
  return {std::pow(kDecade, std::floor(std::log10(low) - 0.05)), high, 0, 1, true};
}

Axis placed(Axis scale, const Column& column) {
  scale.first = column.foot;
  scale.last = column.left + column.width - kFigureRoom;
  return scale;
}

std::string bar_at(const Axis& x, const Series& series, double value, double y) {
  const std::string title = fmt::format("{}: {:.4g}", series.name, value);
  if (x.logarithmic) {
    const double middle = y + kBarHeight / 2;
    return grid_line(x.first, middle, x(value), middle) + mark_at(x(value), middle, series, title);
  }
  return fmt::format(
      "<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.0f}\">"
      "<title>{}</title></rect>\n",
      classes_of(series, "bar"), x.first, y, std::max(1.0, x(value) - x.first), kBarHeight,
      escape_html(title));
}

std::string group_shapes(const Plot& plot, const BarGroup& group, const Column& column, double y) {
  std::string shapes;
  for (const std::string& line : label_lines(group, column)) {
    y += kLabelLine;
    shapes += text_at(column.left, y - 3, "panel", "start", line);
  }
  y += kLabelGap;
  if (group.bars.empty()) {
    return shapes + text_at(column.left, y + kBarHeight, "note", "start", "not measured");
  }
  const Axis x = placed(scale_of(plot), column);
  const double bottom = y + kBarStep * static_cast<double>(group.bars.size());
  for (const double tick : ticks_of(x, 5)) shapes += grid_line(x(tick), y, x(tick), bottom);
  for (const auto& [index, value] : group.bars) {
    const Series& series = plot.bar_series[index];
    shapes += text_at(column.foot - 8, y + kBarHeight, "name", "end", series.name);
    shapes += bar_at(x, series, value, y + 1);
    shapes += text_at(x(value) + 8, y + kBarHeight, "tick", "start", plain_number(value));
    y += kBarStep;
  }
  return shapes;
}

/// How many ticks apart numbers have to be so that none touches its neighbour.
std::size_t number_step(const Axis& x, const std::vector<double>& ticks) {
  const auto half = [](double tick) {
    constexpr double kGap = 3;
    return kNameLetterWidth * static_cast<double>(fmt::format("{:g}", tick).size()) / 2 + kGap;
  };
  const auto touches = [&](std::size_t step) {
    for (std::size_t i = step; i < ticks.size(); i += step) {
      const double before = ticks[i - step], after = ticks[i];
      if (x(after) - x(before) < half(before) + half(after)) return true;
    }
    return false;
  };
  std::size_t step = 1;
  while (touches(step)) ++step;
  return step;
}

/// Ticks and what the scale shows, below a column.
std::string foot_shapes(const Plot& plot, const Column& column, double y) {
  const Axis x = placed(scale_of(plot), column);
  const std::vector<double> ticks = ticks_of(x, 5);
  const std::size_t step = number_step(x, ticks);
  std::string shapes;
  for (std::size_t i = 0; i < ticks.size(); i += step) {
    shapes += text_at(x(ticks[i]), y + 6, "tick", "middle", fmt::format("{:g}", ticks[i]));
  }
  return shapes + text_at(column.left, y + 26, "note", "start",
                          plot.y_name + (plot.logarithmic_y ? ", logarithmic" : ""));
}

std::vector<Column> columns_of(const Plot& plot) {
  std::size_t letters = 0;
  for (const BarGroup& group : plot.groups) {
    for (const auto& [index, value] : group.bars) {
      letters = std::max(letters, plot.bar_series[index].name.size());
    }
  }
  const std::size_t count = plot.groups.size() > 3 ? 2 : 1;
  const double gaps = kColumnGap * static_cast<double>(count - 1);
  const double width = (kSheetWidth - 2 * kSheetMargin - gaps) / static_cast<double>(count);
  const double names = kNameLetterWidth * static_cast<double>(letters) + 8;
  std::vector<Column> columns;
  for (std::size_t i = 0; i < count; ++i) {
    const double left = kSheetMargin + (width + kColumnGap) * static_cast<double>(i);
    columns.push_back(
        {left, left + names, width, static_cast<std::size_t>(width / kBoldLetterWidth)});
  }
  return columns;
}

}  // namespace

void draw_bars(Sheet& sheet, const Plot& plot) {
  const auto columns = columns_of(plot);
  sheet.y() += 8;
  for (std::size_t first = 0; first < plot.groups.size(); first += columns.size()) {
    double height = 0;
    for (std::size_t c = 0; c < columns.size() && first + c < plot.groups.size(); ++c) {
      const BarGroup& group = plot.groups[first + c];
      sheet.add(group_shapes(plot, group, columns[c], sheet.y()));
      height = std::max(height, height_of(group, columns[c]));
    }
    sheet.y() += height;
  }
  for (const Column& column : columns) sheet.add(foot_shapes(plot, column, sheet.y()));
  sheet.y() += kTextLine + 14;
}

}  // namespace heddle
