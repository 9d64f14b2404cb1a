#pragma once
// A temporary folder for one kernel's files, and what interrupted runs left of theirs.

#include <filesystem>
#include <string>

namespace heddle {

/// Locked while it lives, so that others can tell it from one whose process is gone.
class KernelFolder {
 public:
  /// Throws kIo where none can be made.
  KernelFolder();
  ~KernelFolder();
  KernelFolder(const KernelFolder&) = delete;
  KernelFolder& operator=(const KernelFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
  int lock_ = -1;
};

/// Removes this user's folders in `base` that nobody holds locked and that are older than a few
/// minutes (a younger one may be about to be locked).
void remove_abandoned_folders(const std::filesystem::path& base);

}  // namespace heddle
