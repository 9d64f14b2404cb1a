#pragma once
// The file system side of a database. Nothing here opens the database file itself: closing any
// descriptor of it would drop the locks that SQLite holds in this process.

#include <string>

namespace heddle {

/// Identity of a file, to notice that another one took its place. Zero = no such file.
struct FileIdentity {
  unsigned long long device = 0;
  unsigned long long inode = 0;
  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
  bool exists() const { return inode != 0; }
};
FileIdentity file_identity(const std::string& path) noexcept;

/// True for a directory, device, pipe …: something a database must not replace.
bool is_special_file(const std::string& path) noexcept;

/// Creates the file's missing parent directories with mode 0700. False = could not.
bool create_parent_directories(const std::string& path) noexcept;

enum class FileSystemKind {
  kLocal,
  kNetwork,   ///< SQLite's WAL needs memory shared by all users: not across hosts
  kUncertain  ///< may be a network behind a user-space driver: no WAL, but no warning either
};
FileSystemKind file_system_kind(const std::string& path) noexcept;

/// "file:" URI of a path with every special character escaped.
std::string database_uri(const std::string& path, const std::string& parameters);

/// Renames a damaged database and its companions to PATH.corrupt-TIME*, under a lock of the
/// directory, unless another process already replaced it. Returns the new name; empty when there
/// was nothing (left) to move. Throws std::system_error when it cannot be moved.
std::string set_aside(const std::string& path, const FileIdentity& damaged, int timeout_ms);

/// Removes a database and its companions.
void remove_database(const std::string& path) noexcept;

}  // namespace heddle
