#include "tuner/worker_location.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

namespace heddle {
namespace {

namespace fs = std::filesystem;

constexpr const char* kName = "heddle_tune_worker";

std::string found_beside(const fs::path& file) {
  const fs::path folder = file.parent_path();
  for (const fs::path& candidate : {folder / kName, folder.parent_path() / "bin" / kName}) {
    if (::access(candidate.c_str(), X_OK) == 0) return candidate.string();
  }
  return {};
}

std::string wanted(const std::string& text) {
  return text == "none" ? std::string() : text;
}

}  // namespace

std::string find_worker(const std::string& given) {
  if (!given.empty()) return wanted(given);
  const char* variable = std::getenv("HEDDLE_TUNE_WORKER");
  if (variable != nullptr && *variable != '\0') return wanted(variable);
  std::error_code ignored;
  const fs::path executable = fs::read_symlink("/proc/self/exe", ignored);
  if (auto found = found_beside(executable); !found.empty()) return found;
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(&find_worker), &info) == 0) return {};
  return found_beside(fs::weakly_canonical(info.dli_fname, ignored));
}

}  // namespace heddle
