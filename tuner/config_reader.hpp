#pragma once
// One JSON object of a model's configuration, read field by field with errors that name the file.

#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace heddle {

class ConfigReader {
 public:
  /// Throws kInvalidArgument if the text is not a JSON object.
  ConfigReader(const std::string& text, std::string file);
  ~ConfigReader();
  ConfigReader(ConfigReader&&) noexcept;
  ConfigReader& operator=(ConfigReader&&) noexcept;

  /// The object nested under `field`, if there is one.
  std::optional<ConfigReader> nested(const std::string& field) const;

  // Absent and null are the same. The first of several names that is present counts. A value of
  // the wrong type or range throws kInvalidArgument.
  using Names = std::initializer_list<const char*>;
  std::optional<int> count(Names names) const;  ///< a whole number of 1 or more
  std::optional<double> positive(const char* field) const;
  std::optional<bool> boolean(const char* field) const;
  std::optional<std::string> text(Names names) const;
  std::optional<std::vector<std::string>> texts(const char* field) const;
  bool has(const char* field) const;

  int required_count(Names names) const;

  /// Throws: FILE: FIELD: VALUE WHY.
  [[noreturn]] void fail(const std::string& field, const std::string& value,
                         const std::string& why) const;
  [[noreturn]] void unsupported(const std::string& field, const std::string& value,
                                const std::string& why) const;
  std::string value_of(const std::string& field) const;  ///< as written in the file

 private:
  struct State;
  explicit ConfigReader(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace heddle
