#pragma once

#include <catch2/catch.hpp>

#include "generator/problem.hpp"

namespace heddle {

inline void check_refused(const std::optional<Rejection>& rejection, const std::string& field,
                          const std::string& value) {
  INFO("field " << field << ", value " << value);
  REQUIRE(rejection.has_value());
  INFO(rejection->reason);
  CHECK(rejection->field == field);
  CHECK_THAT(rejection->reason, Catch::Contains(field));
  CHECK_THAT(rejection->reason, Catch::Contains(value));
}

/// The input is wrong: kInvalidArgument.
inline void check_invalid(const std::optional<Rejection>& rejection, const std::string& field,
                          const std::string& value) {
  check_refused(rejection, field, value);
  CHECK_FALSE(rejection->unsupported);
}

/// The input is right, and not honoured yet: "unsupported: FIELD".
inline void check_unsupported(const std::optional<Rejection>& rejection, const std::string& field,
                              const std::string& value) {
  check_refused(rejection, field, value);
  CHECK(rejection->unsupported);
  CHECK_THAT(rejection->reason, Catch::StartsWith("unsupported: " + field));
}

}  // namespace heddle
