#include "tuning_db/database_open.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <sqlite3.h>

#include <chrono>
#include <thread>

namespace heddle {
namespace {

int pragma_number(SQLite::Database& database, const char* name) {
  return database.execAndGet(std::string("PRAGMA ") + name).getInt();
}

bool has_tables(SQLite::Database& database) {
  return database.execAndGet("SELECT count(*) FROM sqlite_master").getInt() != 0;
}

/// The file's version; throws where the file is not ours to use.
int checked_version(SQLite::Database& database, const Schema& schema) {
  const int version = pragma_number(database, "user_version");
  const int application = pragma_number(database, "application_id");
  if (application == 0 && version == 0 && !has_tables(database)) return 0;
  if (application != schema.application_id) {
    throw OpenRefusal(Trouble::kForeign, "is a database of another kind; name another file");
  }
  if (version > schema.version()) {
    throw OpenRefusal(Trouble::kNewer, "was written by a newer heddle (schema " +
                                           std::to_string(version) + ", this one knows " +
                                           std::to_string(schema.version()) +
                                           "); upgrade heddle or name another file");
  }
  return version;
}

/// The same in one read transaction: outside of it another process may create the tables between
/// two of the questions, and its file would look like a stranger's.
int snapshot_version(SQLite::Database& database, const Schema& schema) {
  const SQLite::Transaction transaction(database);
  return checked_version(database, schema);
}

/// Every process may get here at once: the first one in does the work, the others find it done.
void migrate(SQLite::Database& database, const Schema& schema) {
  SQLite::Transaction transaction(database, SQLite::TransactionBehavior::EXCLUSIVE);
  const int version = checked_version(database, schema);
  if (version == schema.version()) return;
  for (const char* step : schema.migrations.subspan(version)) database.exec(step);
  database.exec("PRAGMA application_id = " + std::to_string(schema.application_id));
  database.exec("PRAGMA user_version = " + std::to_string(schema.version()));
  transaction.commit();
}

/// The switch does not honour the busy timeout, so it is retried here. Where it fails for good the
/// rollback journal does: slower, as safe.
void switch_to_wal(SQLite::Database& database, int timeout_ms) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
  while (true) {
    try {
      if (database.execAndGet("PRAGMA journal_mode").getString() == "wal") return;
      database.exec("PRAGMA journal_mode = WAL");
      return;
    } catch (const SQLite::Exception& error) {
      const int code = error.getErrorCode() & 0xff;
      if (code != SQLITE_BUSY && code != SQLITE_LOCKED) return;
      if (std::chrono::steady_clock::now() >= deadline) return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

void leave_wal(SQLite::Database& database) {
  database.tryExec("PRAGMA journal_mode = DELETE");
}

std::unique_ptr<SQLite::Database> connect(const std::string& name, int flags, int timeout_ms) {
  // The constructor sets the busy timeout before any statement runs.
  auto database = std::make_unique<SQLite::Database>(name, flags | SQLITE_OPEN_NOMUTEX, timeout_ms);
  database->exec("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON");
  return database;
}

OpenedDatabase open_writable(const OpenRequest& request, const Schema& schema) {
  auto database =
      connect(request.path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE, request.busy_timeout_ms);
  if (sqlite3_db_readonly(database->getHandle(), "main") != 0) {
    throw SQLite::Exception("not writable", SQLITE_READONLY);
  }
  if (snapshot_version(*database, schema) != schema.version()) migrate(*database, schema);
  if (request.use_wal) {
    switch_to_wal(*database, request.busy_timeout_ms);
  } else {
    leave_wal(*database);
  }
  database->exec(std::string("PRAGMA synchronous = ") + schema.synchronous);
  database->exec("PRAGMA journal_size_limit = 1048576");
  return {std::move(database), true};
}

OpenedDatabase open_for_reading(const OpenRequest& request, const Schema& schema,
                                const std::string& parameters) {
  auto database = connect(database_uri(request.path, parameters),
                          SQLite::OPEN_READONLY | SQLite::OPEN_URI, request.busy_timeout_ms);
  if (snapshot_version(*database, schema) != schema.version()) {
    throw OpenRefusal(Trouble::kUnusable,
                      "has an older schema and cannot be written; open it once with write access");
  }
  return {std::move(database), false};
}

/// A file in WAL mode needs its companions, which cannot be made in a directory without write
/// access. With none there nobody is writing, and the file alone is complete.
OpenedDatabase open_read_only(const OpenRequest& request, const Schema& schema) {
  try {
    return open_for_reading(request, schema, "mode=ro");
  } catch (const SQLite::Exception& error) {
    const int code = error.getErrorCode() & 0xff;
    const bool no_companions = code == SQLITE_CANTOPEN || code == SQLITE_READONLY;
    if (!no_companions || file_identity(request.path + "-wal").exists()) throw;
  }
  return open_for_reading(request, schema, "mode=ro&immutable=1");
}

}  // namespace

OpenedDatabase open_database(const OpenRequest& request, const Schema& schema) {
  if (request.read_only) return open_read_only(request, schema);
  try {
    return open_writable(request, schema);
  } catch (const SQLite::Exception& error) {
    const int code = error.getErrorCode() & 0xff;
    const bool unwritable =
        code == SQLITE_READONLY || code == SQLITE_CANTOPEN || code == SQLITE_PERM;
    if (!unwritable || !file_identity(request.path).exists()) throw;
  }
  return open_read_only(request, schema);
}

}  // namespace heddle
