#pragma once
// One field list per struct. Equality, canonical text, hashing, YAML, SQL, --set and emission all
// walk the same list, so a field is written down exactly once.

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "generator/error.hpp"

namespace heddle {

template <class Struct, class Member>
struct Field {
  std::string_view name;
  Member Struct::*member;
  std::string_view description;
};

template <class Struct, class Member>
constexpr Field<Struct, Member> field(std::string_view name, Member Struct::*member,
                                      std::string_view description) {
  return {name, member, description};
}

/// Specialise with `static constexpr std::array names{std::pair{E::a, "a"}, …}`.
template <class Enum>
struct EnumNames;

template <class Enum>
constexpr std::string_view enum_name(Enum value) {
  for (const auto& [candidate, name] : EnumNames<Enum>::names) {
    if (candidate == value) return name;
  }
  return "?";
}

template <class Enum>
std::optional<Enum> enum_value(std::string_view text) {
  for (const auto& [candidate, name] : EnumNames<Enum>::names) {
    if (text == name) return candidate;
  }
  return std::nullopt;
}

/// "fp16, bf16, e4m3": what an error message offers instead.
template <class Enum>
std::string enum_choices() {
  std::string choices;
  for (const auto& [candidate, name] : EnumNames<Enum>::names) {
    choices += (choices.empty() ? "" : ", ") + std::string(name);
  }
  return choices;
}

// Text of single values. Strings are percent-encoded so that ',' '=' and line ends stay structure.
std::string value_text(bool value);
std::string value_text(int value);
std::string value_text(long long value);
std::string value_text(double value);  ///< shortest text that reads back to the same double
std::string value_text(const std::string& value);
bool parse_value(std::string_view text, bool& value);
bool parse_value(std::string_view text, int& value);
bool parse_value(std::string_view text, long long& value);
bool parse_value(std::string_view text, double& value);
bool parse_value(std::string_view text, std::string& value);

template <class Enum>
requires std::is_enum_v<Enum> std::string value_text(Enum value) {
  return std::string(enum_name(value));
}
template <class Enum>
requires std::is_enum_v<Enum>
bool parse_value(std::string_view text, Enum& value) {
  const auto found = enum_value<Enum>(text);
  if (found) value = *found;
  return found.has_value();
}

/// What a value of this type may look like, for error messages.
template <class Value>
std::string value_choices() {
  if constexpr (std::is_enum_v<Value>) return "one of: " + enum_choices<Value>();
  if constexpr (std::is_same_v<Value, bool>) return "true or false";
  if constexpr (std::is_same_v<Value, std::string>) return "text";
  if constexpr (std::is_floating_point_v<Value>) return "a number";
  if constexpr (std::is_same_v<Value, int>) return "a whole number within +-2147483647";
  return "a whole number";
}

/// Calls visit(field, value) for each field of the struct, in the list's order.
template <class Struct, class Visit>
constexpr void for_each_field(Struct&& object, Visit&& visit) {
  std::apply([&](const auto&... entry) { (visit(entry, object.*(entry.member)), ...); },
             std::remove_cvref_t<Struct>::fields());
}

template <class Struct>
bool fields_equal(const Struct& left, const Struct& right) {
  bool equal = true;
  for_each_field(left, [&](const auto& entry, const auto& value) {
    equal = equal && value == right.*(entry.member);
  });
  return equal;
}

/// "name=value,name=value" in field order, defaults left out: a new field with a neutral default
/// changes no text that was written before it existed.
template <class Struct>
std::string canonical_text(const Struct& object) {
  const Struct defaults{};
  std::string text;
  for_each_field(object, [&](const auto& entry, const auto& value) {
    if (value == defaults.*(entry.member)) return;
    if (!text.empty()) text += ',';
    text += std::string(entry.name) + '=' + value_text(value);
  });
  return text;
}

/// Every field, defaults included; what people read.
template <class Struct>
std::string full_text(const Struct& object) {
  std::string text;
  for_each_field(object, [&](const auto& entry, const auto& value) {
    text += (text.empty() ? "" : ", ") + std::string(entry.name) + '=' + value_text(value);
  });
  return text;
}

template <class Struct>
std::string field_names() {
  std::string names;
  for_each_field(Struct{}, [&](const auto& entry, const auto&) {
    names += (names.empty() ? "" : ", ") + std::string(entry.name);
  });
  return names;
}

/// Sets one field from text. Throws kInvalidArgument naming field, value and the possible ones.
template <class Struct>
void set_field(Struct& object, std::string_view name, std::string_view text) {
  bool found = false;
  for_each_field(object, [&](const auto& entry, auto& value) {
    if (entry.name != name) return;
    found = true;
    if (parse_value(text, value)) return;
    throw Error(ErrorCode::kInvalidArgument, std::string(name),
                std::string(name) + ": '" + std::string(text) + "' is not " +
                    value_choices<std::remove_cvref_t<decltype(value)>>());
  });
  if (!found) {
    throw Error(ErrorCode::kInvalidArgument, std::string(name),
                "unknown field '" + std::string(name) + "' (value '" + std::string(text) +
                    "'); known fields: " + field_names<Struct>());
  }
}

/// Splits "a=1,b=2" and calls set(name, value) for each; throws on an entry without '='.
template <class Set>
void for_each_assignment(std::string_view text, Set&& set) {
  while (!text.empty()) {
    const auto comma = text.find(',');
    const auto entry = text.substr(0, comma);
    text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
    const auto equals = entry.find('=');
    if (equals == std::string_view::npos) {
      throw Error(ErrorCode::kInvalidArgument, std::string(entry),
                  "'" + std::string(entry) + "' is not of the form name=value");
    }
    set(entry.substr(0, equals), entry.substr(equals + 1));
  }
}

/// The inverse of canonical_text.
template <class Struct>
Struct parse_canonical(std::string_view text) {
  Struct object{};
  for_each_assignment(
      text, [&](std::string_view name, std::string_view value) { set_field(object, name, value); });
  return object;
}

}  // namespace heddle
