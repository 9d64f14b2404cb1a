#include "runtime/host/fault.hpp"

#include <fmt/format.h>

namespace heddle {

std::string HostFault::describe() const {
  std::string line = fmt::format("{}: block {}", enum_name(kind), block);
  if (warp >= 0) line += fmt::format(", warp {}", warp);
  if (lane >= 0) line += fmt::format(", lane {}", lane);
  if (!location.empty()) line += fmt::format(", at {}", location);
  line += ": " + text;
  if (!other_location.empty()) line += fmt::format(" (the other at {})", other_location);
  return line;
}

}  // namespace heddle
