#include "cli/suites/csv_table.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "generator/error.hpp"

namespace heddle {
namespace {

/// Takes a file apart, character by character.
class CsvScanner {
 public:
  explicit CsvScanner(const std::string& text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
      const char c = text[i];
      if (c == '\n') ++line_;
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
  }

  std::vector<CsvRow> rows;
  std::vector<int> lines;  ///< on which each begins, from 1

 private:
  void end_field() { row_.push_back(std::exchange(field_, {})); }
  void end_row() {
    const int begin = std::exchange(begin_, line_);
    if (row_.empty() && field_.empty()) return;
    end_field();
    rows.push_back(std::exchange(row_, {}));
    lines.push_back(begin);
  }

  CsvRow row_;
  std::string field_;
  bool quoted_ = false;
  int line_ = 1, begin_ = 1;
};

}  // namespace

std::vector<CsvRow> parse_csv(const std::string& text) {
  return CsvScanner(text).rows;
}

CsvTable::CsvTable(const std::string& text, std::string file_name)
    : file_name_(std::move(file_name)) {
  CsvScanner scanner(text);
  rows_ = std::move(scanner.rows);
  lines_ = std::move(scanner.lines);
  if (rows_.empty()) {
    throw Error(ErrorCode::kInvalidArgument, "csv",
                file_name_ + " is empty; its first line has to name the columns");
  }
  names_ = rows_.front();
  rows_.erase(rows_.begin());
  lines_.erase(lines_.begin());
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    if (rows_[row].size() == names_.size()) continue;
    throw Error(ErrorCode::kInvalidArgument, "csv",
                fmt::format("{} line {} has {} fields where the first line names {}; write the "
                            "line whole, or take it out",
                            file_name_, lines_[row], rows_[row].size(), names_.size()));
  }
}

bool CsvTable::has(const std::string& column) const {
  return std::find(names_.begin(), names_.end(), column) != names_.end();
}

const std::string& CsvTable::text(std::size_t row, const std::string& column) const {
  const auto found = std::find(names_.begin(), names_.end(), column);
  if (found == names_.end()) {
    throw Error(ErrorCode::kInvalidArgument, column,
                fmt::format("{} has no column '{}'; it has: {}; write it again with the command "
                            "that wrote it and this version",
                            file_name_, column, fmt::join(names_, ", ")));
  }
  return rows_[row][static_cast<std::size_t>(found - names_.begin())];
}

void CsvTable::refuse(std::size_t row, const std::string& column, const std::string& what) const {
  throw Error(ErrorCode::kInvalidArgument, column,
              fmt::format("{} line {}, column '{}': '{}' {}", file_name_, lines_[row], column,
                          text(row, column), what));
}

double CsvTable::parsed(std::size_t row, const std::string& column, bool may_be_zero) const {
  const std::string& field = text(row, column);
  double value = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  const bool is_number = error == std::errc() && end == field.data() + field.size();
  if (is_number && std::isfinite(value) && (value > 0 || (may_be_zero && value == 0))) return value;
  refuse(row, column,
         fmt::format("is no number {}; mend the field or take the line out",
                     may_be_zero ? "from 0" : "above 0"));
}

double CsvTable::number(std::size_t row, const std::string& column) const {
  return parsed(row, column, false);
}

std::optional<double> CsvTable::figure(std::size_t row, const std::string& column) const {
  if (text(row, column).empty()) return std::nullopt;
  return parsed(row, column, false);
}

std::optional<double> CsvTable::figure_or_zero(std::size_t row, const std::string& column) const {
  if (text(row, column).empty()) return std::nullopt;
  return parsed(row, column, true);
}

int CsvTable::whole(std::size_t row, const std::string& column) const {
  const double value = number(row, column);
  if (value >= 1 && value <= 1e9 && value == std::floor(value)) return static_cast<int>(value);
  refuse(row, column, "is no whole number from 1 to 1e9; mend the field or take the line out");
}

}  // namespace heddle
