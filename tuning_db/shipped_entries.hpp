#pragma once

#include <string>
#include <vector>

#include "tuning_db/records.hpp"

namespace heddle {

struct ShippedEntries {
  std::vector<Measurement> rows;
  /// One message per file that could not be read: a test demands that there is none, a user is
  /// served what remains.
  std::vector<std::string> problems;
};
ShippedEntries parse_shipped_entries();

}  // namespace heddle
