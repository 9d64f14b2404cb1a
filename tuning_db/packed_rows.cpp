#include "tuning_db/packed_rows.hpp"

#include "tuning_db/results_row.hpp"

namespace heddle {
namespace {

// What a column begins with: its type.
constexpr char kNull = 'n', kInteger = 'i', kReal = 'r', kText = 't';

std::string packed(const ColumnValue& value) {
  if (const auto* number = std::get_if<long long>(&value)) return kInteger + value_text(*number);
  if (const auto* real = std::get_if<double>(&value)) return kReal + value_text(*real);
  // Encodes tabs and line ends too.
  if (const auto* text = std::get_if<std::string>(&value)) return kText + value_text(*text);
  return {kNull};
}

template <class Value>
ColumnValue parsed(std::string_view text) {
  Value value{};
  if (!parse_value(text, value)) throw std::bad_variant_access();
  return value;
}

ColumnValue unpacked(std::string_view text) {
  const char type = text.empty() ? '\0' : text.front();
  if (type == kNull) return {};
  if (type == kInteger) return parsed<long long>(text.substr(1));
  if (type == kReal) return parsed<double>(text.substr(1));
  if (type == kText) return parsed<std::string>(text.substr(1));
  throw std::bad_variant_access();
}

/// Calls use(part) for each part of the text that ends with `end`.
template <class Use>
void for_each_part(std::string_view text, char end, Use&& use) {
  while (!text.empty()) {
    const auto length = text.find(end);
    if (length == std::string_view::npos) throw std::bad_variant_access();
    use(text.substr(0, length));
    text.remove_prefix(length + 1);
  }
}

Measurement unpack_row(std::string_view line) {
  std::vector<ColumnValue> values;
  for_each_part(line, '\t', [&](std::string_view part) { values.push_back(unpacked(part)); });
  const auto row = measurement_of(values);
  if (!row) throw std::bad_variant_access();
  return *row;
}

}  // namespace

std::string pack_rows(const std::vector<Measurement>& rows) {
  std::string text;
  for (const Measurement& row : rows) {
    for (const Column& column : columns_of(row)) text += packed(column.value) + '\t';
    text += '\n';
  }
  return text;
}

std::vector<Measurement> unpack_rows(std::string_view text) {
  std::vector<Measurement> rows;
  try {
    for_each_part(text, '\n', [&](std::string_view line) { rows.push_back(unpack_row(line)); });
  } catch (const std::bad_variant_access&) {
    throw Error(ErrorCode::kInternal, "entries",
                "embedded row " + std::to_string(rows.size() + 1) + " cannot be read");
  }
  return rows;
}

}  // namespace heddle
