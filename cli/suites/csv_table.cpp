#include "cli/suites/csv_table.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "generator/error.hpp"

namespace heddle {
namespace {

/// Takes a file apart, character by character.
class CsvScanner {
 public:
  std::vector<CsvRow> scan(const std::string& text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
      const char c = text[i];
      if (quoted_ && c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
        field_ += text[++i];
      } else if (c == '"') {
        quoted_ = !quoted_;
      } else if (quoted_) {
        field_ += c;
      } else if (c == ',') {
        end_field();
      } else if (c == '\n') {
        end_row();
      } else if (c != '\r') {
        field_ += c;
      }
    }
    end_row();
    return std::move(rows_);
  }

 private:
  void end_field() { row_.push_back(std::exchange(field_, {})); }
  void end_row() {
    if (row_.empty() && field_.empty()) return;
    end_field();
    rows_.push_back(std::exchange(row_, {}));
  }

  std::vector<CsvRow> rows_;
  CsvRow row_;
  std::string field_;
  bool quoted_ = false;
};

}  // namespace

std::vector<CsvRow> parse_csv(const std::string& text) {
  return CsvScanner().scan(text);
}

CsvTable::CsvTable(const std::string& text, std::string file_name)
    : file_name_(std::move(file_name)) {
  rows_ = parse_csv(text);
  if (rows_.empty()) {
    throw Error(ErrorCode::kInvalidArgument, "csv",
                file_name_ + " is empty; its first line has to name the columns");
  }
  names_ = rows_.front();
  rows_.erase(rows_.begin());
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    if (rows_[row].size() == names_.size()) continue;
    throw Error(ErrorCode::kInvalidArgument, "csv",
                fmt::format("{}: row {} has {} fields where the first line names {}", file_name_,
                            row + 1, rows_[row].size(), names_.size()));
  }
}

const std::string& CsvTable::text(std::size_t row, const std::string& column) const {
  const auto found = std::find(names_.begin(), names_.end(), column);
  if (found == names_.end()) {
    throw Error(ErrorCode::kInvalidArgument, column,
                fmt::format("{} has no column '{}'; it has: {}", file_name_, column,
                            fmt::join(names_, ", ")));
  }
  return rows_[row][static_cast<std::size_t>(found - names_.begin())];
}

double CsvTable::number(std::size_t row, const std::string& column) const {
  const std::string& field = text(row, column);
  double value = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (error != std::errc() || end != field.data() + field.size() || !(value > 0)) {
    throw Error(ErrorCode::kInvalidArgument, column,
                fmt::format("{}: row {}: {} '{}' is no number above 0", file_name_, row + 1, column,
                            field));
  }
  return value;
}

}  // namespace heddle
