#pragma once
// What a suite of `heddle bench` found: one table for people, one for programs.

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace heddle {

/// Nothing (an empty field), words or a number.
using Value = std::variant<std::monostate, std::string, double>;

/// A line for each measurement, figures unrounded.
struct Records {
  std::vector<std::string> columns;
  std::vector<std::vector<Value>> rows;
};

struct BenchSuiteReport {
  std::string suite;
  std::vector<std::string> method;              ///< shape and method, printed first
  std::vector<std::vector<std::string>> table;  ///< header first
  std::vector<std::string> notes;  ///< below the table: sources of the figures of others, failures
  Records records;                 ///< the plot is drawn from these, as the CSV has them
};

/// What a figure must be quoted with: GPU, driver, date, command … Columns of every CSV line.
using Facts = std::vector<std::pair<std::string, std::string>>;

std::string report_text(const BenchSuiteReport& report, const Facts& facts);
/// The table as docs/evidence.md has it, method above, notes below; `figure` names the SVG beside
/// it, or nothing.
std::string report_markdown(const BenchSuiteReport& report, const Facts& facts,
                            const std::string& figure = {});
std::string report_csv(const BenchSuiteReport& report, const Facts& facts);
std::string report_json(const BenchSuiteReport& report, const Facts& facts);

/// "-" for what is not there.
std::string shown(const Value& value, const char* format = "{:.3g}");

/// Nothing where either is not there.
Value quotient(const Value& over, const Value& under);
/// Nothing where there is none.
Value value_of(const std::optional<double>& number);

}  // namespace heddle
