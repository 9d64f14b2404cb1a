#pragma once
// What `heddle explain` prints of one kernel, section by section.

#include <optional>
#include <string>

#include "generator/explain/explanation.hpp"
#include "runtime/measure.hpp"

namespace heddle {

/// The knobs that mean something for this family and variant, defaults included.
std::string knobs_text(const KernelConfig& config, const Variant& variant);

/// The four questions: tiles and memory; blocks over the problem; warps and barriers; what
/// overlaps.
std::string questions_text(const Explanation& explanation);

/// The same in a few lines for each launch, with the timelines.
std::string brief_questions_text(const Explanation& explanation);

/// Roofline, where the time goes, and what the next knob would change; measured figures beside
/// where there are some.
std::string roofline_text(const Explanation& explanation, const std::optional<Timing>& measured);

}  // namespace heddle
