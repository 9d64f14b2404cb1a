#include "tuner/config_reader.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "generator/error.hpp"

namespace heddle {
namespace {

/// More than any model has of anything that is counted here; keeps products within 64 bits.
constexpr long long kLargestCount = 1LL << 30;

using Json = nlohmann::json;

/// Copies and texts of a value recurse into it.
constexpr int kMostDepth = 64;

Json parse(const std::string& text, const std::string& file) {
  Json object;
  try {
    object = Json::parse(text, [&](int depth, Json::parse_event_t, const Json&) {
      if (depth <= kMostDepth) return true;
      throw Error(ErrorCode::kInvalidArgument, "model",
                  file + ": nested deeper than " + std::to_string(kMostDepth) +
                      " levels; give a model's config.json");
    });
  } catch (const Json::parse_error& error) {
    throw Error(ErrorCode::kInvalidArgument, "model",
                file + ": not valid JSON at byte " + std::to_string(error.byte) +
                    "; give a model's config.json");
  } catch (const Json::exception& error) {  // a number beyond double's range
    throw Error(ErrorCode::kInvalidArgument, "model",
                file + ": " + error.what() + "; give a model's config.json");
  }
  if (!object.is_object()) {
    throw Error(ErrorCode::kInvalidArgument, "model",
                file + ": holds a JSON " + object.type_name() +
                    ", not an object; give a model's config.json");
  }
  return object;
}

}  // namespace

struct ConfigReader::State {
  Json object;
  std::string file;
  std::string prefix;  ///< "text_config." in a nested object

  /// Null where the field is absent.
  const Json* find(const std::string& field) const {
    const auto found = object.find(field);
    return found == object.end() || found->is_null() ? nullptr : &*found;
  }
  const char* first_of(Names names) const {
    for (const char* name : names) {
      if (find(name) != nullptr) return name;
    }
    return nullptr;
  }
};

ConfigReader::ConfigReader(const std::string& text, std::string file)
    : state_(new State{parse(text, file), file, ""}) {}
ConfigReader::ConfigReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
ConfigReader::~ConfigReader() = default;
ConfigReader::ConfigReader(ConfigReader&&) noexcept = default;
ConfigReader& ConfigReader::operator=(ConfigReader&&) noexcept = default;

void ConfigReader::fail(const std::string& field, const std::string& value,
                        const std::string& why) const {
  const std::string name = state_->prefix + field;
  throw Error(ErrorCode::kInvalidArgument, name,
              state_->file + ": " + name + ": " + value + " " + why);
}

void ConfigReader::unsupported(const std::string& field, const std::string& value,
                               const std::string& why) const {
  const std::string name = state_->prefix + field;
  throw Error(ErrorCode::kUnsupported, name,
              state_->file + ": unsupported: " + name + " (value " + value + "); " + why);
}

std::string ConfigReader::value_of(const std::string& field) const {
  const Json* value = state_->find(field);
  return value == nullptr ? "null" : value->dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<ConfigReader> ConfigReader::nested(const std::string& field) const {
  const Json* value = state_->find(field);
  if (value == nullptr) return std::nullopt;
  if (!value->is_object()) fail(field, value_of(field), "is not an object; correct the file");
  auto state = std::make_unique<State>(State{*value, state_->file, state_->prefix + field + "."});
  return ConfigReader(std::move(state));
}

std::optional<int> ConfigReader::count(Names names) const {
  const char* name = state_->first_of(names);
  if (name == nullptr) return std::nullopt;
  const Json& value = *state_->find(name);
  if (!value.is_number_integer()) {
    fail(name, value_of(name),
         std::string("is a ") + value.type_name() + ", not a whole number; correct the file");
  }
  const bool too_large = value.is_number_unsigned() &&
                         value.get<std::uint64_t>() > static_cast<std::uint64_t>(kLargestCount);
  if (too_large || value.get<long long>() < 1) {
    fail(name, value_of(name), "is out of range; give a whole number of 1 or more");
  }
  return value.get<int>();
}

int ConfigReader::required_count(Names names) const {
  if (const auto value = count(names)) return *value;
  std::string others;
  for (const char* name : names) others += (others.empty() ? "" : " or ") + std::string(name);
  fail(*names.begin(), "missing", "and needed; add " + others);
}

std::optional<double> ConfigReader::positive(const char* field) const {
  const Json* value = state_->find(field);
  if (value == nullptr) return std::nullopt;
  if (!value->is_number()) {
    fail(field, value_of(field),
         std::string("is a ") + value->type_name() + ", not a number; correct the file");
  }
  const double number = value->get<double>();
  if (!std::isfinite(number) || number <= 0) {
    fail(field, value_of(field), "is not above 0; give a positive number, or null for none");
  }
  return number;
}

std::optional<bool> ConfigReader::boolean(const char* field) const {
  const Json* value = state_->find(field);
  if (value == nullptr) return std::nullopt;
  if (!value->is_boolean()) {
    fail(field, value_of(field),
         std::string("is a ") + value->type_name() + ", not true or false; correct the file");
  }
  return value->get<bool>();
}

std::optional<std::string> ConfigReader::text(Names names) const {
  const char* name = state_->first_of(names);
  if (name == nullptr) return std::nullopt;
  const Json& value = *state_->find(name);
  if (!value.is_string()) {
    fail(name, value_of(name),
         std::string("is a ") + value.type_name() + ", not a text; correct the file");
  }
  return value.get<std::string>();
}

std::optional<std::vector<std::string>> ConfigReader::texts(const char* field) const {
  const Json* value = state_->find(field);
  if (value == nullptr) return std::nullopt;
  std::vector<std::string> result;
  bool all_text = value->is_array();
  if (all_text) {
    for (const Json& entry : *value) {
      all_text = all_text && entry.is_string();
      if (entry.is_string()) result.push_back(entry.get<std::string>());
    }
  }
  if (!all_text) fail(field, value_of(field), "is not a list of texts; correct the file");
  return result;
}

bool ConfigReader::has(const char* field) const {
  return state_->find(field) != nullptr;
}

}  // namespace heddle
