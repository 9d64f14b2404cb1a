#pragma once

#include <string>

namespace heddle {

/// Throws kInvalidArgument.
std::string read_text_file(const std::string& path);

}  // namespace heddle
