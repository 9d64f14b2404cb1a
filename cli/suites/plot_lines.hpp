#pragma once
// The panels of a plot: lines over an axis, each named at its end.

#include "cli/suites/plot_sheet.hpp"

namespace heddle {

void draw_panels(Sheet& sheet, const Plot& plot);

}  // namespace heddle
