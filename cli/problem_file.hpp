#pragma once

#include <map>
#include <string>

namespace heddle {

/// Reads `name: value` pairs of a problem's YAML file. Names and values are checked by the caller;
/// here only that the file is a flat map, with the line of what is not.
std::map<std::string, std::string> read_problem_file(const std::string& path);

}  // namespace heddle
