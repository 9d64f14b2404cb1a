#include "cli/suites/plot_sheet.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "cli/chart_axis.hpp"

namespace heddle {
namespace {

/// Text and marks have a contrast of 4.5 or more with the ground, in the light and in the dark.
constexpr const char* kStyle = R"(<style>
svg { --ground: #fcfcfa; --text: #1d1f21; --quiet: #5d6166; --rule: #d9dadb; color-scheme: light dark; }
.grey { --tint: #6a6f74; } .purple { --tint: #a2498a; } .green { --tint: #00805c; }
.blue { --tint: #0b6bcb; } .orange { --tint: #b54d00; } .sky { --tint: #1d7796; }
@media (prefers-color-scheme: dark) {
  svg { --ground: #16181a; --text: #e8e8e6; --quiet: #a4a8ac; --rule: #34383c; }
  .grey { --tint: #a4a8ac; } .purple { --tint: #df8cc8; } .green { --tint: #3fc79b; }
  .blue { --tint: #62b0ff; } .orange { --tint: #f0a35e; } .sky { --tint: #86d3ee; }
}
.ground { fill: var(--ground); }
text { fill: var(--quiet); font: 14px system-ui, sans-serif; }
.title { fill: var(--text); font-weight: 600; font-size: 17px; }
.panel { fill: var(--text); font-weight: 600; }
.name, .about { fill: var(--text); }
.end { fill: var(--tint); font-weight: 600; }
.grid { stroke: var(--rule); fill: none; }
.line { fill: none; stroke: var(--tint); stroke-width: 2; }
.others.line { stroke-dasharray: 5 4; }
.mark, .bar { fill: var(--tint); stroke: var(--tint); stroke-width: 1.5; stroke-linejoin: round; }
.others.mark, .others.bar { fill: var(--ground); }
.others.bar { stroke-dasharray: 5 3; }
.lead { stroke: var(--tint); stroke-width: 1; fill: none; }
</style>
)";

constexpr const char* kClasses[] = {"grey", "purple", "green", "blue", "orange", "sky"};
/// Around 0 0: triangle on its head, diamond, triangle, circle, square, upright cross.
constexpr const char* kMarks[] = {
    "M-4 -3.5H4L0 4Z",          "M0 -4.8L4.8 0L0 4.8L-4.8 0Z",
    "M-4 3.5H4L0 -4Z",          "M-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0Z",
    "M-3.2 -3.2H3.2V3.2H-3.2Z", "M-1.3 -4.2H1.3V-1.3H4.2V1.3H1.3V4.2H-1.3V1.3H-4.2V-1.3H-1.3Z"};

/// Bold and larger than the rest.
constexpr double kTitleLetterWidth = 10.2;

}  // namespace

std::vector<std::string> wrapped(const std::string& words, std::size_t most) {
  std::vector<std::string> lines;
  std::string rest = words;
  while (rest.size() > most) {
    std::size_t cut = rest.rfind(' ', most);
    const bool has_blank = cut != std::string::npos && cut > 0;
    if (!has_blank) cut = most;
    lines.push_back(rest.substr(0, cut));
    rest.erase(0, has_blank ? cut + 1 : cut);
  }
  if (!rest.empty()) lines.push_back(rest);
  return lines;
}

void Sheet::paragraph(const std::string& words, const char* kind) {
  const bool is_title = std::string(kind) == "title";
  const double letter = is_title ? kTitleLetterWidth : kLetterWidth;
  const auto most = static_cast<std::size_t>((kSheetWidth - 2 * kSheetMargin) / letter);
  for (const std::string& line : wrapped(words, most)) {
    y_ += is_title ? kTextLine + 2 : kTextLine;
    add(text_at(kSheetMargin, y_, kind, "start", line));
  }
}

std::string Sheet::svg(const std::string& label) const {
  const double height = y_ + kSheetMargin;
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1:.0f}\" width=\"{0}\" "
      "height=\"{1:.0f}\" role=\"img\" aria-label=\"{2}\">\n{3}<rect class=\"ground\" "
      "width=\"100%\" height=\"100%\" />\n{4}</svg>\n",
      kSheetWidth, height, escape_html(label), kStyle, body_);
}

std::string classes_of(const Series& series, const char* shape) {
  return fmt::format("{} {}{}", kClasses[static_cast<std::size_t>(series.tint)], shape,
                     series.of_others ? " others" : "");
}

std::string text_at(double x, double y, const std::string& kind, const char* anchor,
                    const std::string& words) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"{}\" text-anchor=\"{}\">{}</text>\n",
                     x, y, kind, anchor, escape_html(words));
}

std::string mark_at(double x, double y, const Series& series, const std::string& title) {
  const std::string inner = title.empty() ? "" : "<title>" + escape_html(title) + "</title>";
  return fmt::format(
      "<path class=\"{}\" transform=\"translate({:.1f} {:.1f})\" d=\"{}\">{}</path>\n",
      classes_of(series, "mark"), x, y, kMarks[static_cast<std::size_t>(series.tint)], inner);
}

std::string grid_line(double x1, double y1, double x2, double y2) {
  return fmt::format("<path class=\"grid\" d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\" />\n", x1, y1, x2,
                     y2);
}

std::string plain_number(double value) {
  constexpr double kThousand = 1000;
  return value >= kThousand ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value);
}

std::string tick_number(double value) {
  constexpr double kBinaryThousand = 1024;
  const double thousands = value / kBinaryThousand;
  if (thousands >= 1 && thousands == std::floor(thousands)) return fmt::format("{:g}k", thousands);
  return fmt::format("{:g}", value);
}

}  // namespace heddle
