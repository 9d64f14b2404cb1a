#include "cli/explain/timeline_svg.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <span>

#include <fmt/format.h>

#include "cli/report_charts.hpp"
#include "generator/template_library.hpp"

namespace heddle {

/// Generated from timeline.css at build time.
std::span<const EmbeddedTemplate> embedded_timeline_style();

namespace {

constexpr double kWidth = 1000, kLeft = 170, kRight = 20;
constexpr double kLane = 20, kBar = 15;
constexpr double kTitle = 34, kLegend = 26, kPanelHead = 40, kPanelGap = 24;
/// Of bars that have room for a letter, and for a letter and their key tile's number.
constexpr double kLetterRoom = 10, kNumberRoom = 17;

const char* class_of(Activity activity) {
  switch (activity) {
    case Activity::kLoadKey:
    case Activity::kLoadValue:
      return "load";
    case Activity::kHoldKey:
    case Activity::kHoldValue:
      return "hold";
    case Activity::kQueryKey:
      return "query-key";
    case Activity::kSoftmax:
      return "softmax";
    case Activity::kExchange:
      return "exchange";
    case Activity::kProbabilityValue:
      return "probability-value";
    case Activity::kStore:
      return "store";
    case Activity::kWait:
      return "wait";
  }
  return "";
}

/// On bars of that work and in the legend, for whoever cannot tell the colours apart: those of the
/// text.
const char* letter_of(Activity activity) {
  switch (activity) {
    case Activity::kQueryKey:
      return "Q";
    case Activity::kSoftmax:
      return "s";
    case Activity::kExchange:
      return "x";
    case Activity::kProbabilityValue:
      return "P";
    case Activity::kStore:
      return "o";
    default:
      return "";
  }
}

bool is_load(Activity activity) {
  return activity == Activity::kLoadKey || activity == Activity::kLoadValue;
}

/// 1, 2 or 5 times a power of ten, about eight to an axis.
double tick_step(double end) {
  const double power = std::pow(10, std::floor(std::log10(end / 8)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= end / 8) return factor * power;
  }
  return 10 * power;
}

double place(double cycles, const Timeline& line) {
  return kLeft + cycles / line.end * (kWidth - kLeft - kRight);
}

std::string axis_svg(const Timeline& line, double top, double bottom) {
  std::string text = fmt::format("<text x=\"10\" y=\"{:.1f}\">cycles</text>\n", top - 5);
  const double step = tick_step(line.end);
  for (int i = 0; i * step <= line.end; ++i) {
    const double x = place(i * step, line);
    text += fmt::format(
        "<line class=\"grid\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\"/>"
        "<text x=\"{0:.1f}\" y=\"{3:.1f}\" text-anchor=\"middle\">{4:g}</text>\n",
        x, top, bottom, top - 5, i * step);
  }
  return text;
}

std::string span_svg(const Span& span, const Timeline& line, double top) {
  const double begin = place(span.begin, line);
  const double width = std::max(place(span.end, line) - begin, 0.3);
  std::string text = fmt::format(
      "<rect class=\"{}\" x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{}\">"
      "<title>{}, key tile {}: {:.0f} to {:.0f} cycles</title></rect>\n",
      class_of(span.activity), begin, top, width, kBar, enum_name(span.activity), span.step,
      span.begin, span.end);
  const bool quiet = span.activity == Activity::kWait || span.activity == Activity::kHoldKey ||
                     span.activity == Activity::kHoldValue;
  if (quiet) return text;
  std::string words = letter_of(span.activity);
  if (width >= kNumberRoom) words += std::to_string(span.step);
  if (words.empty() || width < kLetterRoom) return text;
  return text + fmt::format("<text class=\"number{}\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n",
                            is_load(span.activity) ? " on-load" : "", begin + 2, top + kBar - 4,
                            words);
}

double height_of(const Timeline& line) {
  return kPanelHead + kLane * static_cast<double>(line.lanes.size()) + kPanelGap;
}

std::string panel_svg(const TimelinePanel& panel, double top) {
  const Timeline& line = panel.timeline;
  const double first = top + kPanelHead;
  std::string text = fmt::format(
      "<text class=\"panel\" x=\"10\" y=\"{0:.1f}\">{1}</text>"
      "<text x=\"{2}\" y=\"{0:.1f}\" text-anchor=\"end\">{3}</text>\n",
      top + 14, escape_html(panel.title), kWidth - kRight, escape_html(panel.caption));
  text += axis_svg(line, first - 4, first + kLane * static_cast<double>(line.lanes.size()));
  double y = first;
  for (const Lane& lane : line.lanes) {
    text += fmt::format("<text class=\"lane\" x=\"10\" y=\"{:.1f}\">{}</text>\n", y + kBar - 3,
                        escape_html(lane.name));
    for (const Span& span : lane.spans) text += span_svg(span, line, y);
    y += kLane;
  }
  return text;
}

std::string legend_svg(const std::vector<TimelinePanel>& panels, double top) {
  std::set<Activity> used;
  for (const TimelinePanel& panel : panels) {
    for (const Lane& lane : panel.timeline.lanes) {
      for (const Span& span : lane.spans) used.insert(span.activity);
    }
  }
  std::string text;
  std::set<std::string_view> said;
  double x = 10;
  for (const Activity activity : used) {
    const std::string_view name = enum_name(activity);
    if (!said.insert(name).second) continue;
    text += fmt::format(
        "<rect class=\"{0}\" x=\"{1:.1f}\" y=\"{2:.1f}\" width=\"16\" height=\"14\"/>"
        "<text class=\"number\" x=\"{3:.1f}\" y=\"{4:.1f}\">{5}</text>"
        "<text x=\"{6:.1f}\" y=\"{4:.1f}\">{7}</text>\n",
        class_of(activity), x, top, x + 5, top + 11, letter_of(activity), x + 21,
        escape_html(std::string(name)));
    x += 40 + 7.0 * static_cast<double>(name.size());
  }
  return text;
}

}  // namespace

std::string timeline_svg(const std::string& title, const std::vector<TimelinePanel>& panels) {
  std::string body = legend_svg(panels, kTitle);
  double top = kTitle + kLegend;
  for (const TimelinePanel& panel : panels) {
    if (panel.timeline.lanes.empty()) continue;
    body += panel_svg(panel, top);
    top += height_of(panel.timeline);
  }
  body += fmt::format(
      "<text x=\"10\" y=\"{:.1f}\">cycles from a block's first load; bars as long as their work, "
      "gaps and waiting so that a key tile is as long as predicted; numbers count key "
      "tiles</text>\n",
      top + 4);
  const double height = top + 16;
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1:.0f}\" width=\"{0}\" "
             "height=\"{1:.0f}\" role=\"img\">\n<title>{2}</title>\n<style>\n{3}</style>\n"
             "<rect class=\"ground\" width=\"{0}\" height=\"{1:.0f}\"/>\n"
             "<text class=\"title\" x=\"10\" y=\"20\">{2}</text>\n",
             kWidth, height, escape_html(title), embedded_timeline_style().front().text) +
         body + "</svg>\n";
}

}  // namespace heddle
