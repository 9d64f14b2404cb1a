#include "cli/report_charts.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace heddle {
namespace {

constexpr double kWidth = 640, kHeight = 300;
constexpr std::size_t kSeriesColours = 5;  // as many as the style sheet has
constexpr double kLeft = 64, kRight = 16, kTop = 32, kBottom = 44;

Axis x_axis(double low, double high, bool logarithmic) {
  return {low, high, kLeft, kWidth - kRight, logarithmic};
}
Axis y_axis(double low, double high, bool logarithmic) {
  return {low, high, kHeight - kBottom, kTop, logarithmic};
}

std::string frame(const Axis& x, const Axis& y, const std::string& x_name,
                  const std::string& y_name) {
  std::string text;
  for (const double tick : ticks_of(y, 5)) {
    text += fmt::format(
        "<line class=grid x1={} x2={} y1={:.1f} y2={:.1f} /><text x={} y={:.1f} "
        "text-anchor=end>{:g}</text>\n",
        kLeft, kWidth - kRight, y(tick), y(tick), kLeft - 6, y(tick) + 4, tick);
  }
  for (const double tick : ticks_of(x, 6)) {
    text += fmt::format(
        "<line class=grid y1={} y2={} x1={:.1f} x2={:.1f} /><text x={:.1f} y={} "
        "text-anchor=middle>{:g}</text>\n",
        kTop, kHeight - kBottom, x(tick), x(tick), x(tick), kHeight - kBottom + 16, tick);
  }
  return text + fmt::format("<text x={} y={} text-anchor=end>{}</text><text x=4 y=18>{}</text>\n",
                            kWidth - kRight, kHeight - 6, escape_html(x_name), escape_html(y_name));
}

std::string dots(const std::vector<Point>& points, const Axis& x, const Axis& y) {
  std::string text;
  for (const Point& point : points) {
    text += fmt::format("<circle cx={:.1f} cy={:.1f} r=4><title>{}</title></circle>\n", x(point.x),
                        y(point.y), escape_html(point.label));
  }
  return text;
}

std::string chart(const std::string& name, const std::string& body) {
  return fmt::format("<svg viewBox=\"0 0 {} {}\" role=img aria-label=\"{}\">\n{}</svg>\n", kWidth,
                     kHeight, escape_html(name), body);
}

}  // namespace

std::string step_chart(const std::vector<Point>& points, const std::string& x_name,
                       const std::string& y_name) {
  if (points.empty()) return {};
  double low = points.front().y, high = low, last = 0;
  for (const Point& point : points) {
    low = std::min(low, point.y);
    high = std::max(high, point.y);
    last = std::max(last, point.x);
  }
  const double margin = std::max(0.05 * (high - low), 0.01 * high);
  const Axis x = x_axis(0, std::max(last, 1e-3), false);
  const Axis y = y_axis(low - margin, high + margin, false);
  std::string path = fmt::format("M{:.1f} {:.1f}", x(points.front().x), y(points.front().y));
  for (const Point& point : points) path += fmt::format(" H{:.1f} V{:.1f}", x(point.x), y(point.y));
  return chart(y_name + " by " + x_name, frame(x, y, x_name, y_name) + "<path class=line d=\"" +
                                             path + "\" />\n" + dots(points, x, y));
}

std::string roofline_chart(const std::vector<ChartSeries>& series) {
  double least_x = 1e300, most_x = 0, least_y = 1e300, most_y = 0;
  for (const ChartSeries& each : series) {
    for (const Point& point : each.points) {
      least_x = std::min(least_x, point.x), most_x = std::max(most_x, point.x);
      least_y = std::min(least_y, point.y), most_y = std::max(most_y, point.y);
    }
    most_y = std::max(most_y, each.peak);
    if (each.slope > 0) most_x = std::max(most_x, each.peak / each.slope);
  }
  if (least_x > most_x) return {};  // no points
  const Axis x = x_axis(least_x / 2, most_x * 2, true);
  const Axis y = y_axis(least_y / 2, most_y * 2, true);
  std::string lines, points, legend;
  for (std::size_t i = 0; i < series.size(); ++i) {
    const ChartSeries& each = series[i];
    const std::string colour = fmt::format("s{}", i % kSeriesColours);
    points += fmt::format("<g class={}>\n{}</g>\n", colour, dots(each.points, x, y));
    legend += fmt::format("<li class={}><i></i>{}</li>\n", colour, escape_html(each.name));
    if (!(each.peak > 0 && each.slope > 0)) continue;
    const double start = std::max(x.low, y.low / each.slope);
    lines += fmt::format("<path class=\"roof {}\" d=\"M{:.1f} {:.1f} L{:.1f} {:.1f} H{:.1f}\" />\n",
                         colour, x(start), y(start * each.slope), x(each.peak / each.slope),
                         y(each.peak), x(x.high));
  }
  return chart("roofline of the winners",
               frame(x, y, "FLOP per byte of HBM", "TFLOP/s") + lines + points) +
         "<ul class=legend>\n" + legend + "</ul>\n";
}

std::string bar_list(const std::vector<Bar>& bars, BarScale scale) {
  double most = scale.to;
  if (most <= scale.from) {
    for (const Bar& bar : bars) most = std::max({most, bar.value, scale.from});
  }
  std::string text = "<ul class=bars>\n";
  for (const Bar& bar : bars) {
    const double share = most > scale.from ? (bar.value - scale.from) / (most - scale.from) : 0;
    text += fmt::format(
        "<li><span>{}</span><i><b style=\"width:{:.1f}%\"></b></i><em>{}</em></li>\n",
        escape_html(bar.label), 100 * std::clamp(share, 0.0, 1.0), escape_html(bar.figure));
  }
  return text + "</ul>\n";
}

std::string table(const std::vector<ChartColumn>& columns,
                  const std::vector<std::vector<std::string>>& rows) {
  if (rows.empty()) return {};
  const auto kind = [](const ChartColumn& column) { return column.figure ? " class=figure" : ""; };
  std::string text = "<div class=wide><table><thead><tr>";
  for (const ChartColumn& column : columns)
    text += fmt::format("<th{}>{}", kind(column), column.name);
  text += "</tr></thead>\n<tbody>\n";
  for (const auto& row : rows) {
    text += "<tr>";
    for (std::size_t i = 0; i < columns.size(); ++i) {
      text += fmt::format("<td{} data-name=\"{}\">{}", kind(columns[i]), columns[i].name, row[i]);
    }
    text += "</tr>\n";
  }
  return text + "</tbody></table></div>\n";
}

}  // namespace heddle
