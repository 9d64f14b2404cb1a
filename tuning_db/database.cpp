#include "tuning_db/database.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <sqlite3.h>

#include <filesystem>

#include "tuning_db/database_open.hpp"

namespace heddle {
namespace {

constexpr auto kPause = std::chrono::seconds(1);

bool is_transient_lock(int code) {
  return code == SQLITE_BUSY || code == SQLITE_LOCKED || code == SQLITE_PROTOCOL;
}

std::string absolute_path(const std::string& path) {
  if (path.empty()) return {};
  std::error_code error;
  const auto absolute = std::filesystem::absolute(path, error);
  return error ? std::string() : absolute.string();
}

}  // namespace

Database::Database(Options options, const Schema& schema)
    : options_(std::move(options)), schema_(schema) {
  // An absolute path is never taken for a URI, whatever characters it holds.
  options_.path = absolute_path(options_.path);
  given_up_ = options_.path.empty();
  if (!given_up_) open(options_.busy_timeout_ms);
}

Database::~Database() = default;

void Database::open(int busy_timeout_ms) {
  try {
    connect(busy_timeout_ms);
  } catch (const std::exception&) {
    connection_.reset();
    recover();
  }
}

void Database::connect(int busy_timeout_ms) {
  if (is_special_file(options_.path)) {
    throw OpenRefusal(Trouble::kUnusable, "is not a regular file; name another one");
  }
  if (!options_.read_only) create_parent_directories(options_.path);
  identity_ = file_identity(options_.path);
  const auto directory = std::filesystem::path(options_.path).parent_path().string();
  const auto kind =
      options_.file_system ? options_.file_system(directory) : file_system_kind(directory);
  if (kind == FileSystemKind::kNetwork) {
    warn(Trouble::kNetwork,
         "is on a network file system, where SQLite is slower and locks are less reliable; "
         "a local path is better");
  }
  auto opened = open_database({.path = options_.path,
                               .read_only = options_.read_only,
                               .use_wal = kind == FileSystemKind::kLocal,
                               .busy_timeout_ms = busy_timeout_ms},
                              schema_);
  connection_ = std::move(opened.connection);
  writable_ = opened.writable;
  identity_ = file_identity(options_.path);
  if (!writable_ && !options_.read_only) {
    warn(Trouble::kReadOnly, "cannot be written: it is read, and new rows stay in memory");
  }
}

StorageState Database::state() const {
  if (!connection_) return StorageState::kMemory;
  return writable_ ? StorageState::kFile : StorageState::kReadOnlyFile;
}

bool Database::read(const Body& body) {
  return attempt(body);
}

bool Database::write(const Body& body) {
  if (!ready_to_write()) return false;
  const bool done = attempt([&](SQLite::Database& database) {
    SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
    body(database);
    transaction.commit();
  });
  if (done && waiting_) {
    waiting_ = false;
    connection_->setBusyTimeout(options_.busy_timeout_ms);
  }
  return done;
}

bool Database::ready_to_write() {
  if (given_up_ || options_.read_only) return false;
  if (std::chrono::steady_clock::now() < pause_until_) return false;
  // Deleted or replaced while open: what is written to the old file would be lost.
  if (connection_ && writable_ && file_identity(options_.path) != identity_) connection_.reset();
  if (!connection_) open(waiting_ ? 0 : options_.busy_timeout_ms);
  return connection_ && writable_;
}

bool Database::attempt(const Body& body) {
  // Twice: after a damaged file has been replaced by a new one.
  for (int count = 0; count < 2; ++count) {
    if (!connection_) return false;
    try {
      body(*connection_);
      return true;
    } catch (const std::exception&) {
      if (!recover()) return false;
    }
  }
  return false;
}

bool Database::recover() {
  try {
    throw;
  } catch (const OpenRefusal& refusal) {
    close_for_good(refusal.trouble, refusal.what());
  } catch (const SQLite::Exception& error) {
    return recover_from_code(error.getErrorCode() & 0xff, error.what());
  } catch (const std::exception& error) {
    warn(Trouble::kUnusable, std::string("failed: ") + error.what());
  }
  return false;
}

bool Database::recover_from_code(int code, const std::string& message) {
  if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB) return replace_damaged(message);
  if (is_transient_lock(code)) {
    pause(Trouble::kLocked, "is locked by another process: going on in memory until it is free");
  } else if (code == SQLITE_FULL || code == SQLITE_IOERR) {
    pause(Trouble::kFull, "cannot be written (" + message +
                              "): going on in memory; free some space or name another file");
  } else if (connection_ && (code == SQLITE_READONLY || code == SQLITE_CANTOPEN)) {
    writable_ = false;
    warn(Trouble::kReadOnly, "cannot be written: it is read, and new rows stay in memory");
  } else if (!connection_) {
    close_for_good(
        Trouble::kUnusable,
        "cannot be opened (" + message + "): going on in memory; name a place that can be written");
  } else {
    warn(Trouble::kUnusable, "failed: " + message);
  }
  return false;
}

bool Database::replace_damaged(const std::string& message) {
  const bool was_writable = connection_ ? writable_ : !options_.read_only;
  connection_.reset();
  if (replaced_ || !was_writable) {
    close_for_good(Trouble::kCorrupt, "is damaged (" + message + "): going on in memory");
    return false;
  }
  replaced_ = true;
  try {
    const std::string name = set_aside(options_.path, identity_, options_.busy_timeout_ms);
    if (!name.empty()) {
      warn(Trouble::kCorrupt,
           "was damaged (" + message + "): moved to " + name + ", starting anew");
    }
  } catch (const std::exception& error) {
    close_for_good(Trouble::kCorrupt, "is damaged (" + message + ") and cannot be moved aside (" +
                                          error.what() + "): going on in memory");
    return false;
  }
  identity_ = {};
  open(options_.busy_timeout_ms);
  return connection_ != nullptr;
}

bool Database::recreate() {
  if (given_up_ || !writable_) return false;
  connection_.reset();
  remove_database(options_.path);
  pause_until_ = {};
  open(options_.busy_timeout_ms);
  return connection_ != nullptr;
}

void Database::pause(Trouble trouble, const std::string& message) {
  waiting_ = true;
  pause_until_ = std::chrono::steady_clock::now() + kPause;
  if (connection_) connection_->setBusyTimeout(0);
  warn(trouble, message);
}

void Database::close_for_good(Trouble trouble, const std::string& message) {
  connection_.reset();
  given_up_ = true;
  warn(trouble, message);
}

void Database::warn(Trouble trouble, const std::string& message) {
  const unsigned bit = 1U << static_cast<unsigned>(trouble);
  if ((warned_ & bit) != 0 || !options_.warn) return;
  warned_ |= bit;
  try {
    options_.warn("'" + options_.path + "' " + message);
  } catch (...) {  // a sink that throws must not turn a warning into a failure
  }
}

}  // namespace heddle
