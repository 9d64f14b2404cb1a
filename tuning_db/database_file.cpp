#include "tuning_db/database_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <system_error>
#include <thread>

namespace heddle {
namespace {

constexpr std::array kCompanions{"-wal", "-shm", "-journal"};

/// flock on the database's directory: released by the kernel however the process ends, and no lock
/// file is left behind.
class DirectoryLock {
 public:
  DirectoryLock(const std::string& directory, int timeout_ms)
      : descriptor_(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    if (descriptor_ < 0) throw std::system_error(errno, std::generic_category(), directory);
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
    while (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
      if (errno == EWOULDBLOCK && std::chrono::steady_clock::now() < deadline) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        continue;
      }
      const int reason = errno;
      ::close(descriptor_);
      throw std::system_error(reason, std::generic_category(), "locking " + directory);
    }
  }
  ~DirectoryLock() { ::close(descriptor_); }
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;

 private:
  int descriptor_;
};

std::string parent_of(const std::string& path) {
  return std::filesystem::path(path).parent_path().string();
}

std::string corrupt_name(const std::string& path) {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  char stamp[32];
  std::strftime(stamp, sizeof stamp, "%Y%m%dT%H%M%SZ", &utc);
  const std::string base = path + ".corrupt-" + stamp;
  std::string name = base;
  for (int copy = 2; file_identity(name).exists(); ++copy) name = base + "-" + std::to_string(copy);
  return name;
}

}  // namespace

FileIdentity file_identity(const std::string& path) noexcept {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return {};
  return {status.st_dev, status.st_ino};
}

bool is_special_file(const std::string& path) noexcept {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
}

bool create_parent_directories(const std::string& path) noexcept try {
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  std::filesystem::path directory;
  // Another process may create one at the same moment, and existing ones may refuse: only what is
  // there in the end counts.
  for (const auto& part : parent) {
    directory /= part;
    ::mkdir(directory.c_str(), 0700);
  }
  return std::filesystem::is_directory(parent);
} catch (const std::exception&) {
  return false;
}

FileSystemKind file_system_kind(const std::string& path) noexcept {
  // NFS, SMB, CIFS, SMB2, 9P, AFS, Coda, Lustre, GPFS, Ceph: numbers of linux/magic.h and the
  // projects themselves.
  constexpr std::array<unsigned, 10> kNetworkTypes{0x6969,     0x517b,     0xff534d42, 0xfe534d42,
                                                   0x01021997, 0x5346414f, 0x73757245, 0x0bd00bd0,
                                                   0x47504653, 0x00c36400};
  constexpr unsigned kFuse = 0x65735546;
  struct statfs status {};
  if (::statfs(path.c_str(), &status) != 0) return FileSystemKind::kLocal;
  const auto type = static_cast<unsigned>(status.f_type);
  if (std::find(kNetworkTypes.begin(), kNetworkTypes.end(), type) != kNetworkTypes.end()) {
    return FileSystemKind::kNetwork;
  }
  return type == kFuse ? FileSystemKind::kUncertain : FileSystemKind::kLocal;
}

std::string database_uri(const std::string& path, const std::string& parameters) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string uri = "file:";
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
                       (byte >= 'A' && byte <= 'Z') || c == '/' || c == '.' || c == '-' || c == '_';
    if (plain) {
      uri += c;
    } else {
      uri += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return uri + "?" + parameters;
}

std::string set_aside(const std::string& path, const FileIdentity& damaged, int timeout_ms) {
  const DirectoryLock lock(parent_of(path), timeout_ms);
  if (!damaged.exists() || file_identity(path) != damaged) return {};
  const std::string name = corrupt_name(path);
  if (::rename(path.c_str(), name.c_str()) != 0) {
    throw std::system_error(errno, std::generic_category(), "renaming " + path);
  }
  // The companions belong to the damaged file: a new database must not replay them.
  for (const char* suffix : kCompanions) ::rename((path + suffix).c_str(), (name + suffix).c_str());
  return name;
}

void remove_database(const std::string& path) noexcept {
  ::unlink(path.c_str());
  for (const char* suffix : kCompanions) ::unlink((path + suffix).c_str());
}

}  // namespace heddle
