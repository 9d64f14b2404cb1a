#pragma once
// Strict reading of YAML maps into structs with a field list. Only for sources that read YAML,
// since it shows yaml-cpp's types.

#include <yaml-cpp/yaml.h>

#include <set>
#include <string>
#include <vector>

#include "generator/error.hpp"
#include "generator/field.hpp"

namespace heddle {

class YamlReader {
 public:
  explicit YamlReader(std::string file_name) : file_name_(std::move(file_name)) {}

  [[noreturn]] void fail(const YAML::Mark& mark, const std::string& field,
                         const std::string& message) const;

  struct Entry {
    std::string key;
    YAML::Node value;
    YAML::Mark mark;  ///< of the key: an empty value's own mark is somewhere after it
  };
  /// The entries of a map, each key once.
  std::vector<Entry> entries(const YAML::Node& node, const std::string& field) const;

  std::string scalar(const Entry& entry, const std::string& field) const;
  /// A list of single values, at least one; a single value is a list of one.
  std::vector<std::string> list(const Entry& entry, const std::string& field) const;

  /// Sets one field of the struct by its name. False = it has no such field.
  template <class Struct>
  bool read_field(Struct& object, const Entry& entry, const std::string& field) const;

  template <class Struct>
  void read_struct(Struct& object, const YAML::Node& node, const std::string& field) const;

 private:
  void read_value(std::string& value, const Entry& entry, const std::string& field) const {
    value = scalar(entry, field);
  }
  template <class Value>
  void read_value(Value& value, const Entry& entry, const std::string& field) const;

  std::string file_name_;
};

template <class Value>
void YamlReader::read_value(Value& value, const Entry& entry, const std::string& field) const {
  const std::string text = scalar(entry, field);
  if (parse_value(text, value)) return;
  fail(entry.mark, field, "'" + text + "' is not " + value_choices<Value>());
}

template <class Struct>
bool YamlReader::read_field(Struct& object, const Entry& entry, const std::string& field) const {
  bool found = false;
  for_each_field(object, [&](const auto& candidate, auto& value) {
    if (candidate.name != entry.key) return;
    found = true;
    read_value(value, entry, field);
  });
  return found;
}

template <class Struct>
void YamlReader::read_struct(Struct& object, const YAML::Node& node,
                             const std::string& field) const {
  for (const Entry& entry : entries(node, field)) {
    const std::string name = field + "." + entry.key;
    if (read_field(object, entry, name)) continue;
    fail(entry.mark, name, "unknown field; known ones: " + field_names<Struct>());
  }
}

}  // namespace heddle
