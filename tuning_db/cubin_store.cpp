#include "tuning_db/cubin_store.hpp"

#include <SQLiteCpp/SQLiteCpp.h>

#include <chrono>
#include <mutex>
#include <set>

#include "tuning_db/cubin_memory.hpp"
#include "tuning_db/cubin_row.hpp"
#include "tuning_db/database.hpp"

namespace heddle {
namespace {

/// Estimated SQLite cost of a row beside its blob: page remainders, key, index entries.
constexpr long long kRowOverhead = 1024;
/// A hit only counts as a use worth writing down this long after the last one on record: hits stay
/// pure reads, and the order of eviction is right to within the hour.
constexpr long long kTouchInterval = 3600LL * 1000000;

long long now_microseconds() {
  using namespace std::chrono;
  return duration_cast<microseconds>(system_clock::now().time_since_epoch()).count();
}

void insert_row(SQLite::Database& database, const std::string& key, const StoredCubin& cubin) {
  const std::string notes = canonical_text(cubin.notes);
  SQLite::Statement insert(database,
                           "INSERT OR REPLACE INTO cubins"
                           " (key, checksum, entry, notes, bytes, last_used, code)"
                           " VALUES (?, ?, ?, ?, ?, ?, ?)");
  insert.bind(1, key);
  insert.bind(2, cubin_checksum(key, cubin, notes));
  insert.bind(3, cubin.entry);
  insert.bind(4, notes);
  insert.bind(5, static_cast<std::int64_t>(cubin.bytes.size()));
  insert.bind(6, static_cast<std::int64_t>(now_microseconds()));
  insert.bindNoCopy(7, cubin.bytes.data(), static_cast<int>(cubin.bytes.size()));
  insert.exec();
}

void touch_rows(SQLite::Database& database, const std::set<std::string>& keys) {
  SQLite::Statement update(database, "UPDATE cubins SET last_used = ? WHERE key = ?");
  for (const std::string& key : keys) {
    update.bind(1, static_cast<std::int64_t>(now_microseconds()));
    update.bind(2, key);
    update.exec();
    update.reset();
  }
}

/// What the rows take of the file, from the covering index alone.
long long used_bytes(SQLite::Database& database) {
  return database
      .execAndGet("SELECT coalesce(sum(bytes + " + std::to_string(kRowOverhead) +
                  "), 0) FROM cubins")
      .getInt64();
}

/// Makes room before the new row is written, so that the file never outgrows the capacity.
void evict(SQLite::Database& database, long long capacity, long long needed) {
  long long used = used_bytes(database);
  while (used + needed > capacity) {
    SQLite::Statement oldest(
        database,
        "DELETE FROM cubins WHERE key = (SELECT key FROM cubins ORDER BY last_used, bytes"
        " LIMIT 1) RETURNING bytes");
    if (!oldest.executeStep()) return;
    used -= oldest.getColumn(0).getInt64() + kRowOverhead;
    while (oldest.executeStep()) {
    }
  }
}

}  // namespace

struct CubinStore::State {
  explicit State(const Options& options)
      : capacity(options.capacity_bytes),
        database({.path = options.path,
                  .read_only = false,
                  .busy_timeout_ms = options.busy_timeout_ms,
                  .warn = options.warn,
                  .file_system = nullptr},
                 cubin_schema()),
        memory(options.capacity_bytes) {}

  ~State() {
    if (!stale) return;
    database.retry_now();
    database.write([&](SQLite::Database& file) { touch_rows(file, used); });
  }

  mutable std::mutex mutex;
  long long capacity;
  Database database;
  CubinMemory memory;
  std::set<std::string> used;  ///< keys hit since the last write
  bool stale = false;          ///< one of them has not been written down for long
  long long reads = 0;
};

CubinStore::CubinStore(Options options) : state_(std::make_unique<State>(options)) {}
CubinStore::CubinStore(CubinStore&&) noexcept = default;
CubinStore& CubinStore::operator=(CubinStore&&) noexcept = default;
CubinStore::~CubinStore() = default;

std::optional<StoredCubin> CubinStore::get(const Hash128& key) {
  const std::lock_guard lock(state_->mutex);
  if (auto found = state_->memory.get(key)) return found;
  std::optional<StoredCubin> found;
  long long last_used = 0;
  const std::string name = key.hex();
  const bool read = state_->database.read([&](SQLite::Database& file) {
    ++state_->reads;
    SQLite::Statement query(
        file, "SELECT checksum, entry, notes, code, last_used FROM cubins WHERE key = ?");
    query.bind(1, name);
    if (!query.executeStep()) return;
    found = read_cubin_row(name, query);
    last_used = query.getColumn("last_used").getInt64();
  });
  if (!read || !found) return std::nullopt;
  state_->used.insert(name);
  state_->stale = state_->stale || now_microseconds() - last_used > kTouchInterval;
  return found;
}

void CubinStore::put(const Hash128& key, const StoredCubin& cubin) {
  if (cubin.bytes.empty()) return;
  const std::lock_guard lock(state_->mutex);
  const long long needed = static_cast<long long>(cubin.bytes.size()) + kRowOverhead;
  if (needed > state_->capacity) {
    state_->database.warn(Trouble::kOutOfRange,
                          "does not keep a kernel of " + std::to_string(cubin.bytes.size()) +
                              " bytes: its limit is " + std::to_string(state_->capacity));
    return;
  }
  const bool written = state_->database.write([&](SQLite::Database& file) {
    touch_rows(file, state_->used);
    evict(file, state_->capacity, needed);
    insert_row(file, key.hex(), cubin);
  });
  if (!written) {
    state_->memory.put(key, cubin);
    return;
  }
  state_->memory.erase(key);
  state_->used.clear();
  state_->stale = false;
}

void CubinStore::clear() {
  const std::lock_guard lock(state_->mutex);
  state_->memory.clear();
  state_->used.clear();
  state_->stale = false;
  state_->database.retry_now();
  // Deleting rows needs room for the log; a full disk has none, and then the file itself goes.
  const bool deleted =
      state_->database.write([](SQLite::Database& file) { file.exec("DELETE FROM cubins"); });
  if (!deleted) {
    state_->database.recreate();
    return;
  }
  state_->database.read([](SQLite::Database& file) {
    file.exec("VACUUM");
    file.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  });
}

long long CubinStore::size_bytes() const {
  const std::lock_guard lock(state_->mutex);
  long long bytes = state_->memory.size_bytes();
  state_->database.read([&](SQLite::Database& file) {
    bytes += file.execAndGet("SELECT coalesce(sum(bytes), 0) FROM cubins").getInt64();
  });
  return bytes;
}

long long CubinStore::read_count() const {
  const std::lock_guard lock(state_->mutex);
  return state_->reads;
}

StorageState CubinStore::state() const {
  const std::lock_guard lock(state_->mutex);
  return state_->database.state();
}

std::string CubinStore::path() const {
  return state_->database.path();
}

}  // namespace heddle
