#include "cli/suites/plot.hpp"

#include <set>

#include <fmt/format.h>

#include "cli/suites/plot_bars.hpp"
#include "cli/suites/plot_lines.hpp"
#include "cli/suites/plot_sheet.hpp"

namespace heddle {
namespace {

/// Series of the same name are named once, each beside a piece of its line with its mark.
void draw_legend(Sheet& sheet, const Plot& plot) {
  constexpr double kPiece = 30, kGap = 18;
  std::set<std::string> named;
  double x = kSheetMargin;
  sheet.y() += kTextLine + 6;
  for (const Panel& panel : plot.panels) {
    for (const Series& series : panel.series) {
      if (series.points.empty() || !named.insert(series.name).second) continue;
      const double width =
          kPiece + 8 + kLetterWidth * static_cast<double>(series.name.size()) + kGap;
      if (x > kSheetMargin && x + width - kGap > kSheetWidth) {
        x = kSheetMargin;
        sheet.y() += kTextLine + 2;
      }
      sheet.add(fmt::format("<path class=\"{}\" d=\"M{:.1f} {:.1f}h{}\" />\n",
                            classes_of(series, "line"), x, sheet.y() - 5, kPiece));
      sheet.add(mark_at(x + kPiece / 2, sheet.y() - 5, series));
      sheet.add(text_at(x + kPiece + 8, sheet.y(), "name", "start", series.name));
      x += width;
    }
  }
}

}  // namespace

std::string plot_svg(const Plot& plot) {
  Sheet sheet;
  sheet.paragraph(plot.title, "title");
  for (const std::string& line : plot.about) sheet.paragraph(line, "about");
  if (plot.groups.empty()) {
    draw_legend(sheet, plot);
    draw_panels(sheet, plot);
  } else {
    draw_bars(sheet, plot);  // each has its name beside it
  }
  for (const std::string& note : plot.notes) sheet.paragraph(note, "note");
  std::string label = plot.title;
  for (const std::string& line : plot.about) label += "; " + line;
  return sheet.svg(label);
}

}  // namespace heddle
