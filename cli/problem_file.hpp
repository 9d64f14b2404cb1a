#pragma once

#include <functional>
#include <string>

namespace heddle {

using AssignValue = std::function<void(const std::string& name, const std::string& text)>;

/// Hands every `name: value` line of a YAML file to `assign`, in the file's order. Throws
/// kInvalidArgument naming file and line, also for what `assign` refuses.
void read_problem_file(const std::string& path, const AssignValue& assign);

}  // namespace heddle
