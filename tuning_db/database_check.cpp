#include "tuning_db/database_check.hpp"

#include <SQLiteCpp/SQLiteCpp.h>

#include "tuning_db/cubin_row.hpp"
#include "tuning_db/database_open.hpp"
#include "tuning_db/results_table.hpp"

namespace heddle {
namespace {

constexpr int kBusyTimeoutMs = 5000;

void check_results_rows(SQLite::Database& database, DatabaseCheck& check) {
  const RowCensus census = count_rows(database);
  check.rows = census.sound + census.newer + census.damaged;
  check.newer = census.newer;
  check.damaged = census.damaged;
}

void check_cubin_rows(SQLite::Database& database, DatabaseCheck& check) {
  SQLite::Statement query(database, "SELECT key, checksum, entry, notes, code FROM cubins");
  while (query.executeStep()) {
    ++check.rows;
    if (!read_cubin_row(query.getColumn("key").getString(), query)) ++check.damaged;
  }
}

DatabaseCheck check_database(const std::string& path, const Schema& schema,
                             void (*check_rows)(SQLite::Database&, DatabaseCheck&)) {
  DatabaseCheck check;
  check.exists = !path.empty() && file_identity(path).exists();
  if (!check.exists) return check;
  try {
    const OpenRequest request{.path = path, .read_only = true, .busy_timeout_ms = kBusyTimeoutMs};
    const auto opened = open_database(request, schema);
    const std::string verdict =
        opened.connection->execAndGet("PRAGMA integrity_check(1)").getString();
    if (verdict != "ok") check.problem = "SQLite finds it damaged: " + verdict;
    check_rows(*opened.connection, check);
  } catch (const OpenRefusal& refusal) {
    check.older = refusal.trouble == Trouble::kUnusable;
    if (!check.older) check.problem = refusal.what();
  } catch (const std::exception& error) {
    check.problem = error.what();
  }
  return check;
}

}  // namespace

DatabaseCheck check_results(const std::string& path) {
  return check_database(path, results_schema(), check_results_rows);
}

DatabaseCheck check_cubins(const std::string& path) {
  return check_database(path, cubin_schema(), check_cubin_rows);
}

}  // namespace heddle
