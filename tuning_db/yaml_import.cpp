#include "generator/yaml_reader.hpp"
#include "tuning_db/results_store.hpp"
#include "tuning_db/utf8.hpp"

namespace heddle {
namespace {

constexpr int kFormat = 1;

/// The device's name is no part of its identity and so not in its field list.
void read_device(const YamlReader& reader, DeviceClass& device, const YAML::Node& node) {
  for (const auto& entry : reader.entries(node, "device")) {
    const std::string field = "device." + entry.key;
    if (entry.key == "name") {
      device.name = reader.scalar(entry, field);
    } else if (!reader.read_field(device, entry, field)) {
      reader.fail(entry.mark, field,
                  "unknown field; known ones: " + field_names<DeviceClass>() + ", name");
    }
  }
}

/// One key of an entry. False = there is no such key.
bool read_key(const YamlReader& reader, Measurement& row, const YamlReader::Entry& entry) {
  const std::string& key = entry.key;
  const YAML::Node& value = entry.value;
  if (key == "variant") {
    reader.read_struct(row.variant, value, key);
  } else if (key == "bucket") {
    reader.read_struct(row.bucket, value, key);
  } else if (key == "sizes") {
    reader.read_struct(row.sizes, value, key);
  } else if (key == "device") {
    read_device(reader, row.device, value);
  } else if (key == "config") {
    reader.read_struct(row.config, value, key);
  } else if (key == "check") {
    reader.read_struct(row.check.emplace(), value, key);
  } else if (key == "provenance") {
    reader.read_struct(row.provenance, value, key);
  } else {
    return reader.read_field(row, entry, key);
  }
  return true;
}

/// What is wrong with the numbers of a struct, all of which must be at least `least`.
template <class Struct>
void require_at_least(const YamlReader& reader, const YAML::Node& node, const Struct& object,
                      const std::string& prefix, int least) {
  for_each_field(object, [&](const auto& entry, const auto& value) {
    using Value = std::remove_cvref_t<decltype(value)>;
    if constexpr (std::is_arithmetic_v<Value> && !std::is_same_v<Value, bool>) {
      if (value >= least) return;
      const std::string name(entry.name);
      const YAML::Node given = node[name];
      reader.fail(given ? given.Mark() : node.Mark(), prefix + name,
                  "'" + value_text(value) + "' is too small: at least " + std::to_string(least));
    }
  });
}

/// "2025-01-31T23:59:59Z": the texts are compared to find the newest.
bool is_time(const std::string& text) {
  constexpr std::string_view kPattern = "dddd-dd-ddTdd:dd:ddZ";
  if (text.size() != kPattern.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (kPattern[i] == 'd' ? !digit : text[i] != kPattern[i]) return false;
  }
  return true;
}

void check_values(const YamlReader& reader, const YAML::Node& node, const Measurement& row) {
  if (const auto rejection = reject_variant(row.variant)) {
    const YAML::Node given = node["variant"][rejection->field];
    reader.fail(given ? given.Mark() : node["variant"].Mark(), "variant." + rejection->field,
                rejection->reason);
  }
  require_at_least(reader, node["bucket"], row.bucket, "bucket.", 1);
  require_at_least(reader, node["device"], row.device, "device.", 0);
  require_at_least(reader, node["config"], row.config, "config.", 1);
  require_at_least(reader, node, row, "", 0);
  if (row.device.capability_major < 1) {
    reader.fail(node["device"].Mark(), "device.capability_major",
                "'" + value_text(row.device.capability_major) + "' is no GPU's; give 8, 9, …");
  }
  if (row.evidence != Evidence::kFailed && !(row.median_seconds > 0)) {
    reader.fail(node["evidence"].Mark(), "median_seconds",
                "'" + value_text(row.median_seconds) + "' must be positive where evidence is " +
                    value_text(row.evidence));
  }
  if (row.chosen && (row.evidence != Evidence::kMeasured || !row.check || !row.check->passed)) {
    reader.fail(node["chosen"].Mark(), "chosen",
                "'true' is only for a measured row with a passed check; remove the line");
  }
  if (!is_time(row.provenance.when)) {
    const YAML::Node when = node["provenance"]["when"];
    reader.fail(when ? when.Mark() : node["provenance"].Mark(), "provenance.when",
                "'" + row.provenance.when + "' is not a UTC time like 2025-01-31T23:59:59Z");
  }
}

Measurement read_entry(const YamlReader& reader, const YAML::Node& node) {
  Measurement row;
  for (const auto& entry : reader.entries(node, "")) {
    if (read_key(reader, row, entry)) continue;
    reader.fail(entry.mark, entry.key,
                "unknown field; known ones: variant, bucket, sizes, device, config, check, "
                "provenance, " +
                    field_names<Measurement>());
  }
  for (const char* key : {"variant", "bucket", "device", "config", "evidence", "provenance"}) {
    if (!node[key]) reader.fail(node.Mark(), key, "is missing from this entry; add it");
  }
  check_values(reader, node, row);
  return row;
}

void check_format(const YamlReader& reader, const YAML::Node& root) {
  const YAML::Node node = root["heddle_results"];
  if (!node) reader.fail(root.Mark(), "heddle_results", "is missing; begin with heddle_results: 1");
  const std::string text = reader.scalar({"heddle_results", node, node.Mark()}, "heddle_results");
  int format = 0;
  if (parse_value(text, format) && format == kFormat) return;
  reader.fail(node.Mark(), "heddle_results",
              "format '" + text + "' is unknown to this heddle, which reads 1; upgrade heddle");
}

std::vector<Measurement> read_document(const YamlReader& reader, const YAML::Node& root) {
  std::vector<Measurement> rows;
  for (const auto& entry : reader.entries(root, "")) {
    if (entry.key == "heddle_results" || entry.key == "entries") continue;
    reader.fail(entry.mark, entry.key, "unknown field; known ones: heddle_results, entries");
  }
  check_format(reader, root);
  const YAML::Node list = root["entries"];
  if (!list) reader.fail(root.Mark(), "entries", "is missing; an empty list is entries: []");
  if (!list.IsSequence()) reader.fail(list.Mark(), "entries", "must be a list of '- …' entries");
  for (const auto& node : list) rows.push_back(read_entry(reader, node));
  return rows;
}

}  // namespace

std::vector<Measurement> import_yaml(const std::string& text, const std::string& file_name) {
  const YamlReader reader(file_name);
  if (valid_utf8(text) != text) {
    reader.fail(YAML::Mark::null_mark(), "", "is not UTF-8 text; save it as UTF-8");
  }
  try {
    const auto documents = YAML::LoadAll(text);
    if (documents.size() != 1) {
      reader.fail(YAML::Mark::null_mark(), "",
                  "holds " + std::to_string(documents.size()) + " documents; give one");
    }
    return read_document(reader, documents.front());
  } catch (const YAML::Exception& error) {
    reader.fail(error.mark, "", error.msg + "; correct the YAML there");
  }
}

}  // namespace heddle
