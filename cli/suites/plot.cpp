#include "cli/suites/plot.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "cli/chart_axis.hpp"

namespace heddle {
namespace {

constexpr double kWidth = 880;
constexpr double kMargin = 12;
constexpr double kLine = 18;     ///< of text
constexpr double kLetter = 6.4;  ///< how wide one is at most, on average
constexpr double kPanelHeight = 250;
constexpr double kBar = 12;

constexpr const char* kStyle = R"(<style>
svg { --ground: #fcfcfa; --text: #1d1f21; --quiet: #5d6166; --rule: #d9dadb; color-scheme: light dark; }
.grey { --tint: #70757a; } .purple { --tint: #a2498a; } .green { --tint: #00805c; }
.blue { --tint: #0b6bcb; } .orange { --tint: #c05200; } .sky { --tint: #2f93b8; }
@media (prefers-color-scheme: dark) {
  svg { --ground: #16181a; --text: #e8e8e6; --quiet: #a4a8ac; --rule: #34383c; }
  .grey { --tint: #a4a8ac; } .purple { --tint: #df8cc8; } .green { --tint: #3fc79b; }
  .blue { --tint: #62b0ff; } .orange { --tint: #f0a35e; } .sky { --tint: #86d3ee; }
}
.ground { fill: var(--ground); }
text { fill: var(--quiet); font: 11.5px system-ui, sans-serif; }
.title { fill: var(--text); font-weight: 600; font-size: 15px; }
.panel { fill: var(--text); font-weight: 600; }
.name { fill: var(--text); }
.grid { stroke: var(--rule); }
.line { fill: none; stroke: var(--tint); stroke-width: 2; }
.dot, .bar { fill: var(--tint); }
.others.line { stroke-dasharray: 5 4; }
.others.bar { fill-opacity: 0.45; }
</style>
)";

const char* class_of(Tint tint) {
  static constexpr const char* kNames[] = {"grey", "purple", "green", "blue", "orange", "sky"};
  return kNames[static_cast<std::size_t>(tint)];
}

std::string classes(const Series& series, const char* shape) {
  return fmt::format("{} {}{}", class_of(series.tint), shape, series.of_others ? " others" : "");
}

std::string text_at(double x, double y, const char* kind, const char* anchor,
                    const std::string& words) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"{}\" text-anchor=\"{}\">{}</text>\n",
                     x, y, kind, anchor, escape_html(words));
}

/// Draws downwards and remembers how far it came.
class Sheet {
 public:
  explicit Sheet(std::string title) : title_(std::move(title)) {}

  void add(const std::string& shapes) { body_ += shapes; }
  double& y() { return y_; }

  void paragraph(const std::string& words) {
    const auto most = static_cast<std::size_t>((kWidth - 2 * kMargin) / kLetter);
    std::string rest = words;
    while (!rest.empty()) {
      std::size_t cut = rest.size();
      if (cut > most) {
        cut = rest.rfind(' ', most);
        if (cut == std::string::npos || cut == 0) cut = most;
      }
      y_ += kLine - 3;
      add(text_at(kMargin, y_, "note", "start", rest.substr(0, cut)));
      rest.erase(0, std::min(rest.size(), cut + 1));
    }
  }

  std::string svg() const {
    const double height = y_ + kMargin;
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {:.0f}\" width=\"{}\" "
        "height=\"{:.0f}\" role=\"img\" aria-label=\"{}\">\n{}<rect class=\"ground\" "
        "width=\"100%\" height=\"100%\" />\n{}</svg>\n",
        kWidth, height, kWidth, height, escape_html(title_), kStyle, body_);
  }

 private:
  std::string title_;
  std::string body_;
  double y_ = 0;
};

/// Three digits, but thousands as they are.
std::string plain(double value) {
  constexpr double kThousand = 1000;
  return value >= kThousand ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value);
}

/// Series of the same name are named once, each beside a piece of its line or bar.
void draw_legend(Sheet& sheet, const std::vector<Series>& all, bool of_bars) {
  std::set<std::string> named;
  double x = kMargin;
  sheet.y() += kLine + 4;
  for (const Series& series : all) {
    if (!named.insert(series.name).second) continue;
    const double width = 34 + kLetter * static_cast<double>(series.name.size()) + 16;
    if (x > kMargin && x + width > kWidth) {
      x = kMargin;
      sheet.y() += kLine;
    }
    sheet.add(of_bars ? fmt::format("<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"28\" "
                                    "height=\"10\" />\n",
                                    classes(series, "bar"), x, sheet.y() - 9)
                      : fmt::format("<path class=\"{}\" d=\"M{:.1f} {:.1f} h28\" />\n",
                                    classes(series, "line"), x, sheet.y() - 4));
    sheet.add(text_at(x + 34, sheet.y(), "name", "start", series.name));
    x += width;
  }
}

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

std::string grid(const Axis& x, const Axis& y, const std::vector<double>& places) {
  std::string text;
  for (const double tick : ticks_of(y, 5)) {
    text += fmt::format("<path class=\"grid\" d=\"M{:.1f} {:.1f} H{:.1f}\" />\n", x.first, y(tick),
                        x.last);
    text += text_at(x.first - 6, y(tick) + 4, "tick", "end", fmt::format("{:g}", tick));
  }
  for (const double tick : places) {
    text += fmt::format("<path class=\"grid\" d=\"M{:.1f} {:.1f} V{:.1f}\" />\n", x(tick), y.first,
                        y.last);
    text += text_at(x(tick), y.first + 15, "tick", "middle", fmt::format("{:g}", tick));
  }
  return text;
}

std::string line_of(const Series& series, const Axis& x, const Axis& y) {
  std::string path, dots;
  for (const auto& [place, value] : series.points) {
    path += fmt::format("{}{:.1f} {:.1f} ", path.empty() ? 'M' : 'L', x(place), y(value));
    dots += fmt::format(
        "<circle class=\"{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\"><title>{}: {:.4g} at "
        "{:g}</title></circle>\n",
        classes(series, "dot"), x(place), y(value), escape_html(series.name), value, place);
  }
  if (path.empty()) return {};
  return fmt::format("<path class=\"{}\" d=\"{}\" />\n", classes(series, "line"), path) + dots;
}

std::string panel_shapes(const Plot& plot, const Panel& panel, double left, double top,
                         double width) {
  std::string shapes = text_at(left + 52, top + 12, "panel", "start", panel.title);
  const Extent extent(panel);
  if (extent.empty()) {
    return shapes + text_at(left + 52, top + 40, "note", "start", "nothing was measured");
  }
  const double low_y = plot.logarithmic_y ? extent.low_y / 1.5 : 0;
  const double high_y = extent.high_y * (plot.logarithmic_y ? 1.5 : 1.08);
  const Axis y{low_y, high_y, top + kPanelHeight - 40, top + 22, plot.logarithmic_y};
  const double inset = 10;  // dots do not touch the frame
  Axis x{extent.low_x, extent.high_x, left + 52 + inset, left + width - inset, plot.logarithmic_x};
  const std::vector<double> places = extent.places.size() <= 8
                                         ? std::vector(extent.places.begin(), extent.places.end())
                                         : ticks_of(x, 6);
  shapes += grid(x, y, places);
  shapes += text_at(left + width - inset, top + kPanelHeight - 10, "note", "end", plot.x_name);
  shapes += text_at(left + width - inset, top + 12, "note", "end", plot.y_name);
  for (const Series& series : panel.series) shapes += line_of(series, x, y);
  return shapes;
}

void draw_panels(Sheet& sheet, const Plot& plot) {
  const bool alone = plot.panels.size() == 1;
  const double width = alone ? kWidth - kMargin : (kWidth - kMargin) / 2;
  for (std::size_t i = 0; i < plot.panels.size(); ++i) {
    const bool on_right = i % 2 == 1;
    sheet.add(panel_shapes(plot, plot.panels[i], on_right ? width : 0, sheet.y() + 10, width));
    if (on_right || i + 1 == plot.panels.size()) sheet.y() += kPanelHeight + 6;
  }
}

void draw_bars(Sheet& sheet, const Plot& plot) {
  double low = HUGE_VAL, high = 0;
  std::size_t letters = 0;
  for (const BarGroup& group : plot.groups) {
    letters = std::max(letters, group.label.size());
    for (const auto& [series, value] : group.bars) {
      low = std::min(low, value), high = std::max(high, value);
    }
  }
  const double left = std::min(kWidth / 2, kMargin + kLetter * static_cast<double>(letters) + 10);
  const Axis x{plot.logarithmic_y ? low / 2 : 0, high, left, kWidth - 80, plot.logarithmic_y};
  sheet.y() += 14;
  for (const BarGroup& group : plot.groups) {
    const double height =
        (kBar + 2) * static_cast<double>(std::max<std::size_t>(1, group.bars.size()));
    sheet.add(text_at(left - 8, sheet.y() + height / 2 + 4, "name", "end", group.label));
    for (const auto& [index, value] : group.bars) {
      const Series& series = plot.bar_series[index];
      sheet.add(fmt::format(
          "<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.0f}\">"
          "<title>{}: {:.4g}</title></rect>\n",
          classes(series, "bar"), left, sheet.y(), std::max(1.0, x(value) - left), kBar,
          escape_html(series.name), value));
      sheet.add(text_at(std::max(left + 1, x(value)) + 6, sheet.y() + kBar - 2, "tick", "start",
                        plain(value)));
      sheet.y() += kBar + 2;
    }
    if (group.bars.empty()) sheet.y() += kBar + 2;
    sheet.y() += 8;
  }
  sheet.y() += 4;
  sheet.add(text_at(left, sheet.y() + 4, "note", "start",
                    plot.y_name + (plot.logarithmic_y ? ", logarithmic" : "")));
  sheet.y() += 8;
}

}  // namespace

std::string plot_svg(const Plot& plot) {
  Sheet sheet(plot.title);
  sheet.y() = 24;
  sheet.add(text_at(kMargin, sheet.y(), "title", "start", plot.title));
  std::vector<Series> named = plot.bar_series;
  for (const Panel& panel : plot.panels) {
    named.insert(named.end(), panel.series.begin(), panel.series.end());
  }
  std::erase_if(named,
                [&](const Series& series) { return plot.groups.empty() && series.points.empty(); });
  draw_legend(sheet, named, !plot.groups.empty());
  if (plot.groups.empty()) {
    draw_panels(sheet, plot);
  } else {
    draw_bars(sheet, plot);
  }
  for (const std::string& note : plot.notes) sheet.paragraph(note);
  return sheet.svg();
}

}  // namespace heddle
