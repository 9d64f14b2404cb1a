#pragma once
// What `heddle explain --compare` prints: families side by side, and what each took away.

#include <optional>
#include <string>
#include <vector>

#include "generator/explain/generations.hpp"
#include "runtime/measure.hpp"

namespace heddle {

/// `measured` is as long as `generations`, or empty.
std::string generations_text(const std::vector<Generation>& generations,
                             const std::vector<std::optional<Timing>>& measured);

/// The sentence of one step: "unfused -> fa1: …".
std::string step_text(const std::vector<Generation>& generations, const GenerationStep& step);

}  // namespace heddle
