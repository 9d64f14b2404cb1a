#include "generator/search_space_reader.hpp"

#include <algorithm>

#include "generator/knobs.hpp"
#include "generator/yaml_reader.hpp"

namespace heddle {
namespace {

constexpr int kFormat = 1;

std::string joined(const std::vector<std::string>& values) {
  std::string text;
  for (const std::string& value : values) text += (text.empty() ? "" : ",") + value;
  return text;
}

/// Whether the knob has an effect in the family, for a mask or another.
bool has_effect(std::string_view knob, Family family) {
  return knob_applies(knob, family, Variant{.mask = MaskKind::kFull}) ||
         knob_applies(knob, family, Variant{.mask = MaskKind::kCausal});
}

/// The knobs that a family has, its name apart.
std::vector<std::string> knobs_of(Family family) {
  std::vector<std::string> names;
  for_each_field(KernelConfig{}, [&](const auto& entry, const auto&) {
    if (entry.name != "family" && has_effect(entry.name, family)) names.emplace_back(entry.name);
  });
  return names;
}

class SpaceReader {
 public:
  explicit SpaceReader(const std::string& file_name) : reader_(file_name) {}

  std::vector<SpaceKnob> read(const std::string& text) {
    try {
      const YAML::Node root = YAML::Load(text);
      for (const auto& entry : reader_.entries(root, "")) read_root(entry);
      if (!root["heddle_search_space"] || knobs_.empty()) {
        reader_.fail(root.Mark(), "heddle_search_space",
                     "is missing; begin with heddle_search_space: 1, then families");
      }
    } catch (const YAML::Exception& error) {
      reader_.fail(error.mark, "", error.msg + "; correct the YAML there");
    }
    return std::move(knobs_);
  }

 private:
  void read_root(const YamlReader::Entry& entry) {
    if (entry.key == "families" && entry.value.IsSequence()) {
      for (const YAML::Node& node : entry.value) read_family(node);
      return;
    }
    int format = 0;
    if (entry.key != "heddle_search_space") {
      reader_.fail(entry.mark, entry.key,
                   "unknown, or no list; known are heddle_search_space: 1 and a list of families");
    }
    const std::string given = reader_.scalar(entry, entry.key);
    if (parse_value(given, format) && format == kFormat) return;
    reader_.fail(entry.mark, entry.key, "format '" + given + "' is unknown, 1 is known");
  }

  Family family_of(const YAML::Node& node) const {
    const YAML::Node given = node["family"];
    if (!given) reader_.fail(node.Mark(), "family", "is missing from this entry; add it");
    const std::string text = reader_.scalar({"family", given, given.Mark()}, "family");
    const auto family = enum_value<Family>(text);
    const bool known = std::any_of(knobs_.begin(), knobs_.end(),
                                   [&](const SpaceKnob& knob) { return knob.family == text; });
    if (family && *family != Family::kReference && !known) return *family;
    reader_.fail(given.Mark(), "family",
                 "'" + text + "' is given twice, or not one of: unfused, fa1, fa2, fa3");
  }

  void read_family(const YAML::Node& node) {
    const auto entries = reader_.entries(node, "families");
    const Family family = family_of(node);
    std::set<std::string> mentioned;
    for (const auto& entry : entries) {
      if (entry.key == "family") continue;
      if (entry.key == "fixed") {
        for (const std::string& knob : reader_.list(entry, entry.key)) {
          check_knob({knob, {}, entry.mark}, family, mentioned);
        }
      } else if (entry.key == "tiles" || entry.key == "switches") {
        for (const auto& knob : reader_.entries(entry.value, entry.key)) {
          check_knob(knob, family, mentioned);
          read_knob(knob, {std::string(enum_name(family)), knob.key, entry.key == "switches"});
        }
      } else {
        reader_.fail(entry.mark, entry.key, "unknown; known ones: family, tiles, switches, fixed");
      }
    }
    for (const std::string& knob : knobs_of(family)) {
      if (mentioned.count(knob) > 0) continue;
      reader_.fail(node.Mark(), name_of(family, knob),
                   "is not mentioned; give its values in tiles or switches, or name it in fixed");
    }
  }

  static std::string name_of(Family family, const std::string& knob) {
    return std::string(enum_name(family)) + "." + knob;
  }

  void check_knob(const YamlReader::Entry& knob, Family family,
                  std::set<std::string>& mentioned) const {
    const std::string name = name_of(family, knob.key);
    const auto known = knobs_of(family);
    if (std::find(known.begin(), known.end(), knob.key) == known.end()) {
      reader_.fail(knob.mark, name, "no knob of this family; its knobs: " + joined(known));
    }
    if (mentioned.insert(knob.key).second) return;
    reader_.fail(knob.mark, name, "is given twice; remove one of them");
  }

  void read_knob(const YamlReader::Entry& entry, SpaceKnob knob) {
    const bool conditional =
        entry.value.IsSequence() && entry.value.size() > 0 && entry.value[0].IsMap();
    if (!conditional) {
      knob.values = values_of(entry, knob);
      knobs_.push_back(knob);
      return;
    }
    for (const YAML::Node& node : entry.value) {
      SpaceKnob part = knob;
      for (const auto& condition : reader_.entries(node, knob.knob)) {
        if (condition.key == "values") {
          part.values = values_of(condition, knob);
        } else if (condition.key == "dtype") {
          part.dtypes = checked<Variant>(condition, "dtype", "dtype");
        } else if (condition.key == "mask") {
          part.masks = checked<Variant>(condition, "mask", "mask");
        } else {
          reader_.fail(
              condition.mark, knob.family + "." + knob.knob,
              "unknown condition '" + condition.key + "'; known ones: dtype, mask, values");
        }
      }
      if (part.values.empty()) {
        reader_.fail(node.Mark(), knob.family + "." + knob.knob, "has no values; give them");
      }
      knobs_.push_back(part);
    }
  }

  std::string values_of(const YamlReader::Entry& entry, const SpaceKnob& knob) const {
    return checked<KernelConfig>(entry, knob.knob, knob.family + "." + knob.knob);
  }

  /// Every value as the field takes it, no two the same.
  template <class Struct>
  std::string checked(const YamlReader::Entry& entry, const std::string& field,
                      const std::string& name) const {
    std::vector<std::string> values;
    for (const std::string& value : reader_.list(entry, name)) {
      Struct object;
      try {
        set_field(object, field, value);
      } catch (const Error& error) {
        reader_.fail(entry.mark, name, error.what());
      }
      for_each_field(object, [&](const auto& known, const auto& set) {
        if (known.name == field) values.push_back(value_text(set));
      });
      if (std::count(values.begin(), values.end(), values.back()) > 1) {
        reader_.fail(entry.mark, name, "'" + value + "' is given twice; remove one of them");
      }
    }
    return joined(values);
  }

  YamlReader reader_;
  std::vector<SpaceKnob> knobs_;
};

}  // namespace

std::vector<SpaceKnob> read_search_space(const std::string& text, const std::string& file_name) {
  return SpaceReader(file_name).read(text);
}

std::string search_space_source(const std::vector<SpaceKnob>& knobs) {
  std::string lines;
  for (const SpaceKnob& knob : knobs) {
    lines += "    {\"" + knob.family + "\", \"" + knob.knob + "\", " + value_text(knob.is_switch) +
             ", \"" + knob.dtypes + "\", \"" + knob.masks + "\", \"" + knob.values + "\"},\n";
  }
  return "// Generated from search_space.yaml; do not edit.\n"
         "#include \"generator/search_space.hpp\"\n\n"
         "namespace heddle {\nnamespace {\n"
         "constexpr SearchSpaceLine kLines[] = {\n" +
         lines +
         "};\n}  // namespace\n\n"
         "std::span<const SearchSpaceLine> search_space() { return kLines; }\n\n"
         "}  // namespace heddle\n";
}

}  // namespace heddle
