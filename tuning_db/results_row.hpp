#pragma once
// A Measurement as columns of the table `measurements`, driven by the structs' own field lists.

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tuning_db/records.hpp"

namespace heddle {

using ColumnValue = std::variant<std::monostate, long long, double, std::string>;

struct Column {
  std::string name;
  ColumnValue value;
};

/// Data columns in the order of the table, without id, hashes and checksum.
std::vector<Column> columns_of(const Measurement& measurement);
/// nullopt for values that this heddle cannot read (an unknown field of a newer one, damage).
std::optional<Measurement> measurement_of(const std::vector<ColumnValue>& values);

/// Over names and values of every data column that is not at its default, so that a column added
/// later, with a neutral default, leaves the checksums of older rows valid.
std::string row_checksum(const std::vector<Column>& columns);
/// The same of values as they were read, for many rows: `defaults` are those of Measurement{}.
std::string row_checksum(const std::vector<ColumnValue>& values,
                         const std::vector<Column>& defaults);

/// What is stored: valid UTF-8, finite numbers, a time.
Measurement normalised(Measurement measurement);

}  // namespace heddle
