#pragma once

#include <optional>
#include <vector>

#include <nlohmann/json.hpp>

#include "generator/explain/generations.hpp"
#include "runtime/measure.hpp"

namespace heddle {

/// Everything that the text says, and the timelines' spans.
nlohmann::json explanation_json(const Explanation& explanation,
                                const std::optional<Timing>& measured);

nlohmann::json generations_json(const std::vector<Generation>& generations,
                                const std::vector<std::optional<Timing>>& measured);

}  // namespace heddle
