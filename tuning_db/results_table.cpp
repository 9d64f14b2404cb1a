#include "tuning_db/results_table.hpp"

#include <SQLiteCpp/SQLiteCpp.h>

#include "tuning_db/results_row.hpp"

namespace heddle {
namespace {

constexpr const char* kHashColumns =
    "checksum, variant_hash, bucket_hash, device_hash, config_hash";
constexpr int kHashCount = 5;
/// The words of the index measurements_by_failed_check, without which SQLite does not use it. A
/// canonical text begins with its first field unless that is false, the default.
const std::string kCheckFailed = "substr(check_record, 1, 11) <> 'passed=true'";

/// "a", "b", …: quoted, because "when" is a word of SQL's.
std::string data_column_names() {
  std::string names;
  for (const auto& column : columns_of(Measurement{})) {
    names += (names.empty() ? "\"" : ", \"") + column.name + '"';
  }
  return names;
}

std::string insert_text() {
  std::string marks = "?";
  const std::size_t count = columns_of(Measurement{}).size() + kHashCount;
  for (std::size_t i = 1; i < count; ++i) marks += ", ?";
  return std::string("INSERT OR IGNORE INTO measurements (") + kHashColumns + ", " +
         data_column_names() + ") VALUES (" + marks + ")";
}

void bind_value(SQLite::Statement& statement, int index, const ColumnValue& value) {
  if (const auto* number = std::get_if<long long>(&value)) {
    statement.bind(index, static_cast<std::int64_t>(*number));
  } else if (const auto* real = std::get_if<double>(&value)) {
    statement.bind(index, *real);
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    statement.bind(index, *text);
  } else {
    statement.bind(index);
  }
}

ColumnValue read_value(const SQLite::Column& column) {
  if (column.isNull()) return {};
  if (column.isInteger()) return static_cast<long long>(column.getInt64());
  if (column.isFloat()) return column.getDouble();
  return column.getString();
}

/// Column 0 is the checksum, the data follow.
std::vector<ColumnValue> read_values(SQLite::Statement& statement) {
  std::vector<ColumnValue> values;
  for (int i = 1; i < statement.getColumnCount(); ++i) {
    values.push_back(read_value(statement.getColumn(i)));
  }
  return values;
}

/// Whether the row is as it was written, known fields or not.
bool is_intact(SQLite::Statement& statement, const std::vector<ColumnValue>& values,
               const std::vector<Column>& defaults) {
  return row_checksum(values, defaults) == statement.getColumn(0).getString();
}

std::vector<Measurement> read_rows(SQLite::Statement& statement) {
  const auto defaults = columns_of(Measurement{});
  std::vector<Measurement> rows;
  while (statement.executeStep()) {
    const auto values = read_values(statement);
    if (!is_intact(statement, values, defaults)) continue;
    if (auto row = measurement_of(values)) rows.push_back(std::move(*row));
  }
  return rows;
}

std::string select_text() {
  return "SELECT checksum, " + data_column_names() + " FROM measurements ";
}

}  // namespace

void insert_rows(SQLite::Database& database, const std::vector<Measurement>& rows) {
  SQLite::Statement insert(database, insert_text());
  for (const Measurement& row : rows) {
    const auto columns = columns_of(row);
    insert.bind(1, row_checksum(columns));
    insert.bind(2, canonical_hash(row.variant).hex());
    insert.bind(3, canonical_hash(row.bucket).hex());
    insert.bind(4, canonical_hash(row.device).hex());
    insert.bind(5, canonical_hash(row.config).hex());
    int index = kHashCount;
    for (const auto& column : columns) bind_value(insert, ++index, column.value);
    insert.exec();
    insert.reset();
  }
}

std::vector<Measurement> select_rows(SQLite::Database& database, const RowQuery& query) {
  const bool any_device = query.filter == RowFilter::kAnyDevice;
  const std::string same_variant =
      select_text() + "WHERE variant_hash = ?1 " + (any_device ? "" : "AND device_hash ");
  std::string text = same_variant;
  if (query.filter == RowFilter::kExact) {
    // Two halves, each with an index that holds nothing else: rows of other sizes are not touched.
    text += "= ?2 AND bucket_hash = ?3 UNION ALL " + same_variant +
            "= ?2 AND bucket_hash <> ?3 AND " + kCheckFailed;
  } else {
    if (!any_device) text += query.filter == RowFilter::kOtherDevices ? "<> ?2 " : "= ?2 ";
    text += "ORDER BY id";
  }
  SQLite::Statement statement(database, text);
  statement.bind(1, canonical_hash(query.variant).hex());
  if (!any_device) statement.bind(2, canonical_hash(query.device).hex());
  if (query.filter == RowFilter::kExact) statement.bind(3, canonical_hash(query.bucket).hex());
  return read_rows(statement);
}

std::vector<Measurement> select_all_rows(SQLite::Database& database) {
  SQLite::Statement statement(database, select_text() + "ORDER BY id");
  return read_rows(statement);
}

RowCensus count_rows(SQLite::Database& database) {
  SQLite::Statement statement(database, select_text());
  const auto defaults = columns_of(Measurement{});
  RowCensus census;
  while (statement.executeStep()) {
    const auto values = read_values(statement);
    if (!is_intact(statement, values, defaults)) {
      ++census.damaged;
    } else if (measurement_of(values)) {
      ++census.sound;
    } else {
      ++census.newer;
    }
  }
  return census;
}

void delete_rows(SQLite::Database& database, const std::vector<Measurement>& rows) {
  SQLite::Statement remove(database, "DELETE FROM measurements WHERE checksum = ?");
  for (const Measurement& row : rows) {
    remove.bind(1, row_checksum(columns_of(row)));
    remove.exec();
    remove.reset();
  }
}

long long delete_damaged_rows(SQLite::Database& database) {
  std::vector<std::string> damaged;  // by checksum, which is unique whatever else a row holds
  SQLite::Statement statement(database, select_text());
  const auto defaults = columns_of(Measurement{});
  while (statement.executeStep()) {
    if (is_intact(statement, read_values(statement), defaults)) continue;
    damaged.push_back(statement.getColumn(0).getString());
  }
  SQLite::Statement remove(database, "DELETE FROM measurements WHERE checksum = ?");
  for (const std::string& checksum : damaged) {
    remove.bind(1, checksum);
    remove.exec();
    remove.reset();
  }
  return static_cast<long long>(damaged.size());
}

bool is_selected(const Measurement& row, const RowQuery& query) {
  if (!(row.variant == query.variant)) return false;
  if (query.filter == RowFilter::kAnyDevice) return true;
  const bool other = query.filter == RowFilter::kOtherDevices;
  return row.device.same_class(query.device) != other;
}

}  // namespace heddle
