#pragma once
// CSV files of other programs (RFC 4180: quoted fields may hold commas, quotes, line ends).

#include <string>
#include <vector>

namespace heddle {

using CsvRow = std::vector<std::string>;

/// Every row that is not empty; nothing is asked of their lengths.
std::vector<CsvRow> parse_csv(const std::string& text);

/// A file whose first row names the columns.
class CsvTable {
 public:
  /// Throws kInvalidArgument naming file and line where a row has too few or too many fields.
  CsvTable(const std::string& text, std::string file_name);
  std::size_t size() const { return rows_.size(); }
  /// Throws kInvalidArgument where there is no such column.
  const std::string& text(std::size_t row, const std::string& column) const;
  /// Throws kInvalidArgument naming file, row, column and value where it is no number above 0.
  double number(std::size_t row, const std::string& column) const;

 private:
  CsvRow names_;
  std::vector<CsvRow> rows_;
  std::string file_name_;
};

}  // namespace heddle
