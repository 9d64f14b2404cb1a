#include "runtime/host/kernel_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <string_view>

#include "generator/error.hpp"

namespace fs = std::filesystem;

namespace heddle {
namespace {

constexpr std::string_view kPrefix = "heddle-host-";
constexpr std::time_t kYoungSeconds = 600;

/// Locks of flock() belong to the open file and end with the process, however it ends.
int open_locked(const fs::path& folder) {
  const int file = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (file < 0) return -1;
  if (flock(file, LOCK_EX | LOCK_NB) == 0) return file;
  close(file);
  return -1;
}

bool is_old_and_ours(const fs::path& folder) {
  struct stat status {};
  if (lstat(folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) return false;
  return status.st_uid == geteuid() && std::time(nullptr) - status.st_mtime > kYoungSeconds;
}

}  // namespace

KernelFolder::KernelFolder() {
  std::error_code error;
  const fs::path base = fs::temp_directory_path(error);
  path_ = (base / (std::string(kPrefix) + "XXXXXX")).string();
  if (error || mkdtemp(path_.data()) == nullptr) {
    throw Error(ErrorCode::kIo, "TMPDIR",
                fmt::format("cannot make a folder in {}: set TMPDIR to one that can be written",
                            error ? "what TMPDIR names" : base.string()));
  }
  lock_ = open_locked(path_);
}

KernelFolder::~KernelFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  if (lock_ >= 0) close(lock_);
}

void remove_abandoned_folders(const fs::path& base) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(base, error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(kPrefix) || !is_old_and_ours(entry.path())) continue;
    const int lock = open_locked(entry.path());
    if (lock < 0) continue;
    std::error_code ignored;
    fs::remove_all(entry.path(), ignored);
    close(lock);
  }
}

}  // namespace heddle
