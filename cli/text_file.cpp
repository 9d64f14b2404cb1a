#include "cli/text_file.hpp"

#include <fstream>
#include <sstream>

#include "generator/error.hpp"

namespace heddle {

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
