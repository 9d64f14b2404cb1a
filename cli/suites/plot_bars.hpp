#pragma once
// The bars of a plot: groups below each other, every bar with its name and its figure.

#include "cli/suites/plot_sheet.hpp"

namespace heddle {

void draw_bars(Sheet& sheet, const Plot& plot);

}  // namespace heddle
