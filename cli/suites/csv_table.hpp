#pragma once
// CSV files (RFC 4180: quoted fields may hold commas, quotes, line ends), of this program and of
// others.

#include <optional>
#include <string>
#include <vector>

namespace heddle {

using CsvRow = std::vector<std::string>;

/// Every row that is not empty; nothing is asked of their lengths.
std::vector<CsvRow> parse_csv(const std::string& text);

/// A file whose first row names the columns. What is wrong in it is kInvalidArgument and says file,
/// line, column and what to do.
class CsvTable {
 public:
  /// Throws where a row has too few or too many fields.
  CsvTable(const std::string& text, std::string file_name);
  std::size_t size() const { return rows_.size(); }
  const CsvRow& columns() const { return names_; }
  bool has(const std::string& column) const;
  /// Throws where there is no such column.
  const std::string& text(std::size_t row, const std::string& column) const;
  /// Throws where it is no number above 0.
  double number(std::size_t row, const std::string& column) const;
  /// The same; nothing where the field is empty.
  std::optional<double> figure(std::size_t row, const std::string& column) const;
  /// The same, of what may be 0.
  std::optional<double> figure_or_zero(std::size_t row, const std::string& column) const;
  /// A whole number from 1 to 1e9.
  int whole(std::size_t row, const std::string& column) const;
  /// Throws what is wrong with a field: "FILE line 3, column 'mask': 'some' is neither …".
  [[noreturn]] void refuse(std::size_t row, const std::string& column,
                           const std::string& what) const;
  const std::string& file_name() const { return file_name_; }

 private:
  double parsed(std::size_t row, const std::string& column, bool may_be_zero) const;

  CsvRow names_;
  std::vector<CsvRow> rows_;
  std::vector<int> lines_;  ///< on which each row begins, from 1
  std::string file_name_;
};

}  // namespace heddle
