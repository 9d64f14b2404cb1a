#pragma once

#include <string>
#include <vector>

#include "tuner/named_problem.hpp"

namespace heddle {

/// The problems of a workload file, in its order: each entry gives fields of a problem, and a list
/// of values stands for one problem each. Throws kInvalidArgument naming file, line, field, value
/// and remedy, for two entries that pose the same problem too.
std::vector<NamedProblem> parse_workload(const std::string& text, const std::string& file_name);

}  // namespace heddle
