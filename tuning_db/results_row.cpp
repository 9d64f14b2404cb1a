#include "tuning_db/results_row.hpp"

#include <cmath>
#include <ctime>
#include <limits>

#include "tuning_db/utf8.hpp"

namespace heddle {
namespace {

/// The one list of columns: visit(name, value) for structs that become a canonical text as well as
/// for plain values.
template <class Row, class Visit>
void for_each_column(Row& row, Visit&& visit) {
  const auto plain = [&](const auto& entry, auto& value) { visit(entry.name, value); };
  visit("variant", row.variant);
  visit("bucket", row.bucket);
  visit("sizes", row.sizes);
  visit("device", row.device);
  visit("device_name", row.device.name);
  visit("config", row.config);
  for_each_field(row, plain);
  visit("check_record", row.check);
  for_each_field(row.provenance, plain);
}

template <class Value>
concept HasFields = requires {
  Value::fields();
};

ColumnValue encode(int value) {
  return static_cast<long long>(value);
}
ColumnValue encode(bool value) {
  return static_cast<long long>(value);
}
ColumnValue encode(double value) {
  return value;
}
ColumnValue encode(const std::string& value) {
  return value;
}
ColumnValue encode(Evidence value) {
  return value_text(value);
}
ColumnValue encode(const std::optional<CheckRecord>& value) {
  return value ? ColumnValue(canonical_text(*value)) : ColumnValue();
}
template <HasFields Struct>
ColumnValue encode(const Struct& value) {
  return canonical_text(value);
}

// Decoding throws (std::bad_variant_access or Error) on anything unexpected.
void decode(const ColumnValue& column, int& value) {
  const long long wide = std::get<long long>(column);
  value = static_cast<int>(wide);
  if (value != wide) throw std::bad_variant_access();
}
void decode(const ColumnValue& column, bool& value) {
  value = std::get<long long>(column) != 0;
}
void decode(const ColumnValue& column, double& value) {
  value = std::get<double>(column);
}
void decode(const ColumnValue& column, std::string& value) {
  value = std::get<std::string>(column);
}
void decode(const ColumnValue& column, Evidence& value) {
  if (!parse_value(std::get<std::string>(column), value)) throw std::bad_variant_access();
}
template <HasFields Struct>
void decode(const ColumnValue& column, Struct& value) {
  value = parse_canonical<Struct>(std::get<std::string>(column));
}
void decode(const ColumnValue& column, std::optional<CheckRecord>& value) {
  if (std::holds_alternative<std::monostate>(column)) return;
  value = parse_canonical<CheckRecord>(std::get<std::string>(column));
}

std::string text_of(const ColumnValue& value) {
  if (std::holds_alternative<std::monostate>(value)) return "null";
  if (const auto* number = std::get_if<long long>(&value)) return value_text(*number);
  if (const auto* real = std::get_if<double>(&value)) return value_text(*real);
  return value_text(std::get<std::string>(value));
}

/// A failed check may well have met NaN or infinity, which no text format of ours carries.
void make_finite(double& value) {
  if (!std::isfinite(value)) value = std::numeric_limits<double>::max();
}
void make_finite(int&) {}
void make_finite(bool&) {}
void make_finite(std::string& value) {
  value = valid_utf8(value);
}
void make_finite(Evidence&) {}

std::string now_text() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

}  // namespace

std::vector<Column> columns_of(const Measurement& measurement) {
  std::vector<Column> columns;
  for_each_column(measurement, [&](std::string_view name, const auto& value) {
    columns.push_back({std::string(name), encode(value)});
  });
  return columns;
}

std::optional<Measurement> measurement_of(const std::vector<ColumnValue>& values) try {
  Measurement measurement;
  std::size_t index = 0;
  for_each_column(measurement,
                  [&](std::string_view, auto& value) { decode(values.at(index++), value); });
  return measurement;
} catch (const std::exception&) {
  return std::nullopt;
}

std::string row_checksum(const std::vector<Column>& columns) {
  std::vector<ColumnValue> values;
  for (const Column& column : columns) values.push_back(column.value);
  return row_checksum(values, columns_of(Measurement{}));
}

std::string row_checksum(const std::vector<ColumnValue>& values,
                         const std::vector<Column>& defaults) {
  std::string text;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] == defaults.at(i).value) continue;
    text += defaults[i].name + '=' + text_of(values[i]) + ',';
  }
  return hash_text(text).hex();
}

Measurement normalised(Measurement measurement) {
  const auto fix = [](const auto&, auto& value) { make_finite(value); };
  for_each_field(measurement, fix);
  for_each_field(measurement.provenance, fix);
  if (measurement.check) for_each_field(*measurement.check, fix);
  measurement.device.name = valid_utf8(measurement.device.name);
  measurement.variant.score_snippet = valid_utf8(measurement.variant.score_snippet);
  measurement.variant.mask_snippet = valid_utf8(measurement.variant.mask_snippet);
  if (measurement.provenance.when.empty()) measurement.provenance.when = now_text();
  return measurement;
}

}  // namespace heddle
