#include "generator/yaml_reader.hpp"

namespace heddle {

void YamlReader::fail(const YAML::Mark& mark, const std::string& field,
                      const std::string& message) const {
  std::string place = file_name_;
  if (!mark.is_null()) place += ":" + std::to_string(mark.line + 1);
  throw Error(ErrorCode::kInvalidArgument, field,
              place + ": " + (field.empty() ? "" : field + ": ") + message);
}

std::vector<YamlReader::Entry> YamlReader::entries(const YAML::Node& node,
                                                   const std::string& field) const {
  if (!node.IsMap()) fail(node.Mark(), field, "must be a map of 'name: value' lines, or {}");
  std::vector<Entry> entries;
  std::set<std::string> seen;
  for (const auto& pair : node) {
    if (!pair.first.IsScalar()) fail(pair.first.Mark(), field, "a name must be plain text");
    const std::string key = pair.first.Scalar();
    if (!seen.insert(key).second) {
      fail(pair.first.Mark(), field.empty() ? key : field + "." + key,
           "is given twice; remove one of them");
    }
    entries.push_back({key, pair.second, pair.first.Mark()});
  }
  return entries;
}

std::string YamlReader::scalar(const Entry& entry, const std::string& field) const {
  if (entry.value.IsNull()) fail(entry.mark, field, "has no value; give one or remove the line");
  if (!entry.value.IsScalar()) fail(entry.mark, field, "must be a single value");
  return entry.value.Scalar();
}

std::vector<std::string> YamlReader::list(const Entry& entry, const std::string& field) const {
  if (!entry.value.IsSequence()) return {scalar(entry, field)};
  std::vector<std::string> values;
  for (const YAML::Node& value : entry.value) {
    values.push_back(scalar({entry.key, value, entry.mark}, field));
  }
  if (values.empty()) fail(entry.mark, field, "has no value; give one or more");
  return values;
}

}  // namespace heddle
