#include "cli/text_file.hpp"

#include <fstream>
#include <sstream>

#include "generator/error.hpp"

namespace heddle {

void write_text_file(const std::string& flag, const std::string& path, const std::string& text) {
  std::ofstream stream(path, std::ios::binary);
  stream << text;
  if (!stream.flush()) {
    throw Error(ErrorCode::kIo, flag,
                "--" + flag + ": cannot write '" + path +
                    "'; name a file in a folder that is there and writable");
  }
}

std::string read_text_file(const std::string& path) {
  std::ifstream stream(path);
  std::stringstream text;
  if (!stream || !(text << stream.rdbuf())) {
    throw Error(ErrorCode::kInvalidArgument, "file",
                "cannot read '" + path + "'; check that the file exists and is not empty");
  }
  return text.str();
}

}  // namespace heddle
