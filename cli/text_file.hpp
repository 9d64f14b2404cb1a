#pragma once

#include <string>

namespace heddle {

/// Throws kIo for the flag that named the file.
void write_text_file(const std::string& flag, const std::string& path, const std::string& text);

/// Throws kInvalidArgument.
std::string read_text_file(const std::string& path);

}  // namespace heddle
