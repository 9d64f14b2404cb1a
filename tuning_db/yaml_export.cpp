#include <algorithm>

#include "tuning_db/results_lookup.hpp"
#include "tuning_db/results_row.hpp"
#include "tuning_db/results_store.hpp"

namespace heddle {
namespace {

/// A double-quoted scalar: one line whatever the text holds.
std::string quoted(const std::string& text) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string result = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      result += {'\\', c};
    } else if (c == '\n') {
      result += "\\n";
    } else if (byte < 0x20 || byte == 0x7f) {
      result += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
    } else {
      result += c;
    }
  }
  return result + '"';
}

std::string scalar(const std::string& value) {
  return quoted(value);
}
template <class Value>
std::string scalar(const Value& value) {
  return value_text(value);
}

/// One "key: value" per line, defaults left out: the same rule as the canonical text, so that a new
/// field changes no line of an old export.
template <class Struct>
std::string lines(const Struct& object, const std::string& indent) {
  const Struct defaults{};
  std::string text;
  for_each_field(object, [&](const auto& entry, const auto& value) {
    if (value == defaults.*(entry.member)) return;
    text += indent + std::string(entry.name) + ": " + scalar(value) + '\n';
  });
  return text;
}

std::string section(const std::string& name, const std::string& body) {
  return "    " + name + (body.empty() ? ": {}\n" : ":\n" + body);
}

std::string entry_text(const Measurement& row) {
  const std::string indent(6, ' ');
  std::string device = lines(row.device, indent);
  if (!row.device.name.empty()) device += indent + "name: " + quoted(row.device.name) + '\n';
  std::string text = section("variant", lines(row.variant, indent)) +
                     section("bucket", lines(row.bucket, indent)) +
                     section("sizes", lines(row.sizes, indent)) + section("device", device) +
                     section("config", lines(row.config, indent));
  text += "    evidence: " + value_text(row.evidence) + '\n';
  Measurement figures = row;
  figures.evidence = Measurement{}.evidence;
  text += lines(figures, "    ");
  if (row.check) text += section("check", lines(*row.check, indent));
  text += section("provenance", lines(row.provenance, indent));
  text.replace(2, 1, "-");  // the first key of a list entry
  return text;
}

}  // namespace

std::string export_yaml(const std::vector<Measurement>& rows) {
  std::vector<Measurement> sorted;
  for (const auto& row : rows) sorted.push_back(normalised(row));
  std::stable_sort(sorted.begin(), sorted.end(), listed_before);
  std::string text = "# Fields at their defaults are left out.\nheddle_results: 1\n";
  text += sorted.empty() ? "entries: []\n" : "entries:\n";
  for (const auto& row : sorted) text += entry_text(row);
  return text;
}

}  // namespace heddle
