#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tuning_db/records.hpp"

namespace heddle {

/// Rows as they are embedded in the library: a line each, columns between tabs. YAML is for people,
/// and would take every process that opens a results store ten milliseconds to read.
std::string pack_rows(const std::vector<Measurement>& rows);
/// Throws kInternal for what pack_rows() of this version did not write.
std::vector<Measurement> unpack_rows(std::string_view text);

}  // namespace heddle
