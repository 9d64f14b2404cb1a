#include "cli/suites/suite_report.hpp"

#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/terminal.hpp"

namespace heddle {
namespace {

/// A field of a CSV file (RFC 4180).
std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

std::string csv_field(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return csv_field(*text);
  if (const auto* number = std::get_if<double>(&value)) return fmt::format("{:.9g}", *number);
  return {};
}

nlohmann::json json_value(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  const auto* number = std::get_if<double>(&value);
  if (number == nullptr) return nullptr;
  constexpr double kExact = 1e15;  // counts stay counts
  const bool is_count = std::abs(*number) < kExact && *number == std::floor(*number);
  return is_count ? nlohmann::json(static_cast<long long>(*number)) : nlohmann::json(*number);
}

/// "NVIDIA H200, driver 580.159.04, CUDA 13.0, heddle 0.1.0, 2026-12-01, `heddle bench …`".
std::string provenance(const Facts& facts) {
  std::string text, command;
  for (const auto& [name, value] : facts) {
    if (name == "command") command = ", `" + value + '`';
    if (name == "suite" || name == "command") continue;
    const bool speaks_for_itself = name == "gpu" || name == "date";
    text += (text.empty() ? "" : ", ") + (speaks_for_itself ? "" : name + ' ') + value;
  }
  return text + command;
}

std::string markdown_row(const std::vector<std::string>& cells) {
  std::string text = "|";
  for (const std::string& cell : cells) text += ' ' + cell + " |";
  return text + '\n';
}

}  // namespace

std::string shown(const Value& value, const char* format) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* number = std::get_if<double>(&value)) {
    return fmt::format(fmt::runtime(format), *number);
  }
  return "-";
}

Value quotient(const Value& over, const Value& under) {
  const auto* above = std::get_if<double>(&over);
  const auto* below = std::get_if<double>(&under);
  return above != nullptr && below != nullptr ? Value(*above / *below) : Value();
}

Value value_of(const std::optional<double>& number) {
  return number ? Value(*number) : Value();
}

std::string report_text(const BenchSuiteReport& report, const Facts& facts) {
  std::string text = report.suite;
  for (const auto& [name, value] : facts) {
    if (name != "suite") text += fmt::format("; {} {}", name, value);
  }
  text += '\n';
  for (const std::string& line : report.method) text += line + '\n';
  text += '\n' + format_table(report.table);
  if (!report.notes.empty()) text += '\n';
  for (const std::string& line : report.notes) text += line + '\n';
  return text;
}

std::string report_markdown(const BenchSuiteReport& report, const Facts& facts,
                            const std::string& figure) {
  std::string text = fmt::format("### {}\n\n{}.\n\n", report.suite, provenance(facts));
  for (const std::string& line : report.method) text += "- " + line + '\n';
  text += '\n';
  for (std::size_t i = 0; i < report.table.size(); ++i) {
    text += markdown_row(report.table[i]);
    if (i > 0) continue;
    text += '|';
    for (std::size_t column = 0; column < report.table[0].size(); ++column) text += "---|";
    text += '\n';
  }
  if (!figure.empty()) text += fmt::format("\n![{}]({})\n", report.suite, figure);
  if (!report.notes.empty()) text += '\n';
  for (const std::string& line : report.notes) text += "- " + line + '\n';
  return text;
}

std::string report_csv(const BenchSuiteReport& report, const Facts& facts) {
  std::string text;
  const auto end_line = [&] { text.back() = '\n'; };
  for (const std::string& name : report.records.columns) text += csv_field(name) + ',';
  for (const auto& [name, value] : facts) text += csv_field(name) + ',';
  end_line();
  for (const auto& row : report.records.rows) {
    for (const Value& value : row) text += csv_field(value) + ',';
    for (const auto& [name, value] : facts) text += csv_field(value) + ',';
    end_line();
  }
  return text;
}

std::string report_json(const BenchSuiteReport& report, const Facts& facts) {
  nlohmann::json json{{"method", report.method}, {"notes", report.notes}};
  for (const auto& [name, value] : facts) json[name] = value;
  json["rows"] = nlohmann::json::array();
  for (const auto& row : report.records.rows) {
    nlohmann::json object;
    for (std::size_t i = 0; i < row.size(); ++i) {
      object[report.records.columns[i]] = json_value(row[i]);
    }
    json["rows"].push_back(object);
  }
  return json.dump(2) + "\n";
}

}  // namespace heddle
