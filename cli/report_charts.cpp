#include "cli/report_charts.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace heddle {
namespace {

constexpr double kWidth = 640, kHeight = 300;
constexpr double kLeft = 64, kRight = 16, kTop = 12, kBottom = 44;

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
  return text + fmt::format(
                    "<text x={} y={} text-anchor=end>{}</text><text x=4 y=10 "
                    "class=name>{}</text>\n",
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

std::string roofline_chart(const std::vector<Point>& points, const std::vector<Roof>& roofs) {
  if (points.empty()) return {};
  double least_x = points.front().x, most_x = least_x, least_y = points.front().y, most_y = least_y;
  for (const Point& point : points) {
    least_x = std::min(least_x, point.x), most_x = std::max(most_x, point.x);
    least_y = std::min(least_y, point.y), most_y = std::max(most_y, point.y);
  }
  for (const Roof& roof : roofs) {
    most_y = std::max(most_y, roof.peak);
    most_x = std::max(most_x, roof.peak / roof.slope);
  }
  const Axis x = x_axis(least_x / 2, most_x * 4, true);
  const Axis y = y_axis(least_y / 2, most_y * 3, true);
  std::string body = frame(x, y, "FLOP per byte of HBM", "TFLOP/s");
  for (std::size_t i = 0; i < roofs.size(); ++i) {
    const Roof& roof = roofs[i];
    const double knee = roof.peak / roof.slope;
    const double start = std::max(x.low, y.low / roof.slope);
    body += fmt::format(
        "<path class=roof d=\"M{:.1f} {:.1f} L{:.1f} {:.1f} H{:.1f}\"><title>{}</title></path>\n",
        x(start), y(start * roof.slope), x(knee), y(roof.peak), x(x.high), escape_html(roof.name));
    // The highest roof is named above its line, the others below theirs.
    const double offset = i + 1 == roofs.size() ? -5 : 13;
    body += fmt::format("<text x={:.1f} y={:.1f} text-anchor=end>{}</text>\n", x(x.high),
                        y(roof.peak) + offset, escape_html(roof.name));
  }
  return chart("roofline of the winners", body + dots(points, x, y));
}

std::string bar_list(const std::vector<Bar>& bars, double from) {
  double most = from;
  for (const Bar& bar : bars) most = std::max(most, bar.value);
  std::string text = "<ul class=bars>\n";
  for (const Bar& bar : bars) {
    const double share = most > from ? (bar.value - from) / (most - from) : 0;
    text += fmt::format(
        "<li><span>{}</span><i><b style=\"width:{:.1f}%\"></b></i><em>{}</em></li>\n",
        escape_html(bar.label), 100 * std::clamp(share, 0.0, 1.0), escape_html(bar.figure));
  }
  return text + "</ul>\n";
}

}  // namespace heddle
