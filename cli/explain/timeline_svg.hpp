#pragma once
// Timelines as one SVG file that needs nothing else, light or dark as the viewer prefers.

#include <string>
#include <vector>

#include "generator/explain/timeline.hpp"

namespace heddle {

struct TimelinePanel {
  std::string title;
  std::string caption;
  Timeline timeline;
};

/// Panels below each other, each with an axis of its own in cycles; those without lanes are left
/// out.
std::string timeline_svg(const std::string& title, const std::vector<TimelinePanel>& panels);

}  // namespace heddle
