#pragma once

#include <string>

#include "generator/explain/timeline.hpp"

namespace heddle {

/// A line for each lane, a column for so many cycles, and what the letters mean.
std::string timeline_text(const Timeline& timeline);

}  // namespace heddle
