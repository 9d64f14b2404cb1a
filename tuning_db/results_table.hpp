#pragma once
// The SQL of the table `measurements`: what is written and how it is found again.

#include <string>
#include <vector>

#include "tuning_db/records.hpp"

namespace SQLite {
class Database;
}

namespace heddle {

/// A row that is stored already is left alone. The rows must be normalised().
void insert_rows(SQLite::Database& database, const std::vector<Measurement>& rows);

/// Which rows of a variant to read, so that the usual question (an exact one) reads few.
enum class RowFilter {
  kExact,       ///< this device and bucket, and failures that count in every bucket
  kThisDevice,  ///< this device, any bucket
  kOtherDevices,
  kAnyDevice
};
struct RowQuery {
  const Variant& variant;
  const SizeBucket& bucket;
  const DeviceClass& device;
  RowFilter filter;
};

/// Readable rows in the order of their recording; damaged ones and those with fields of a newer
/// heddle are left out.
std::vector<Measurement> select_rows(SQLite::Database& database, const RowQuery& query);
std::vector<Measurement> select_all_rows(SQLite::Database& database);

/// How sound the rows are.
struct RowCensus {
  long long sound = 0;
  long long newer = 0;    ///< sound, but with fields that this heddle does not know
  long long damaged = 0;  ///< not what was written
};
RowCensus count_rows(SQLite::Database& database);

void delete_rows(SQLite::Database& database, const std::vector<Measurement>& rows);
/// How many there were.
long long delete_damaged_rows(SQLite::Database& database);

/// The same choice among rows in memory. kExact keeps every bucket: memory is cheap to look at.
bool is_selected(const Measurement& row, const RowQuery& query);

}  // namespace heddle
