#pragma once

#include <string>
#include <string_view>

#include "generator/part_work.hpp"

namespace heddle {

/// Blocks of a part that are on an SM at once, and what allows no more. At least 1 (a config that
/// does not fit is not legal).
struct Residency {
  int blocks = 1;
  std::string_view limited_by;
};

Residency residency(const PartWork& work, const DeviceLimits& limits);
/// All that allow no more: "shared memory and registers".
std::string residency_limits(const PartWork& work, const DeviceLimits& limits);

}  // namespace heddle
