#pragma once
// One SQLite file that is never a reason to fail: whatever goes wrong, the caller hears 'false' and
// carries on in memory, and the user one warning.

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "tuning_db/database_file.hpp"
#include "tuning_db/schema.hpp"
#include "tuning_db/storage.hpp"

namespace SQLite {
class Database;
}

namespace heddle {

/// Kinds of trouble; the user hears of each at most once per database object.
enum class Trouble {
  kLocked,      ///< another process holds it: tried again later
  kFull,        ///< disk, quota or file size limit: tried again later
  kReadOnly,    ///< readable, not writable
  kCorrupt,     ///< set aside, a new one made
  kNewer,       ///< written by a newer heddle
  kForeign,     ///< a database, but not this one
  kNetwork,     ///< on a network file system: works without WAL
  kUnusable,    ///< no file can be used at all
  kOutOfRange,  ///< a single entry that cannot be kept
};

/// Not thread-safe: its owner holds a mutex.
class Database {
 public:
  struct Options {
    std::string path;  ///< empty = no file
    bool read_only = false;
    int busy_timeout_ms = 2000;
    WarningSink warn;
    /// Null = file_system_kind(); tests say otherwise.
    std::function<FileSystemKind(const std::string& directory)> file_system;
  };
  using Body = std::function<void(SQLite::Database&)>;

  Database(Options options, const Schema& schema);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  /// Runs body on the open file. False = not done, whatever the reason: use memory.
  bool read(const Body& body);
  /// The same inside BEGIN IMMEDIATE … COMMIT; all or nothing. After a lock or a full disk it is
  /// tried again, without waiting, at most once a second.
  bool write(const Body& body);
  /// The next write() is tried whatever happened lately (before closing).
  void retry_now() { pause_until_ = {}; }
  /// Starts an empty file in place of this one; works on a full disk. False = nothing to replace.
  bool recreate();

  StorageState state() const;
  const std::string& path() const { return options_.path; }
  void warn(Trouble trouble, const std::string& message);

 private:
  void open(int busy_timeout_ms);
  void connect(int busy_timeout_ms);
  bool attempt(const Body& body);
  bool ready_to_write();
  /// Deals with the exception in flight. True = worth trying again at once.
  bool recover();
  bool recover_from_code(int code, const std::string& message);
  bool replace_damaged(const std::string& message);
  void pause(Trouble trouble, const std::string& message);
  void close_for_good(Trouble trouble, const std::string& message);

  Options options_;
  const Schema& schema_;
  std::unique_ptr<SQLite::Database> connection_;
  FileIdentity identity_;
  bool writable_ = false;
  bool given_up_ = false;  ///< no file for the rest of this object's life
  bool replaced_ = false;  ///< one damaged file is replaced, not an endless row of them
  bool waiting_ = false;   ///< a lock or full disk was met: stop waiting for it
  unsigned warned_ = 0;    ///< bit per Trouble
  std::chrono::steady_clock::time_point pause_until_;
};

}  // namespace heddle
