#include "runtime/failed_source.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <vector>

namespace heddle {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kKept = 16;

void remove_oldest(const fs::path& folder) {
  std::vector<std::pair<fs::file_time_type, fs::path>> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".cu") {
      files.emplace_back(entry.last_write_time(), entry.path());
    }
  }
  if (files.size() <= kKept) return;
  std::sort(files.begin(), files.end());
  files.resize(files.size() - kKept);
  for (const auto& [time, path] : files) fs::remove(path);
}

}  // namespace

std::string save_failed_source(const std::string& folder, const KernelSource& source) noexcept try {
  if (folder.empty()) return {};
  fs::create_directories(folder);
  // A hash as name: short, free of odd characters, and the same failure overwrites itself.
  const fs::path path = fs::path(folder) / (source_hash(source).hex() + ".cu");
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << flatten(source);
  if (!file.flush()) return {};
  remove_oldest(folder);
  return path.string();
} catch (...) {
  return {};
}

}  // namespace heddle
