#pragma once

#include <unistd.h>

#include <filesystem>
#include <string>

namespace heddle {

/// An empty folder that goes away with the test.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(const std::string& name = "heddle test") {
    static int count = 0;
    path_ = std::filesystem::temp_directory_path() /
            (name + " " + std::to_string(getpid()) + " " + std::to_string(++count));
    std::filesystem::create_directories(path_);
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace heddle
