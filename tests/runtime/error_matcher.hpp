#pragma once

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "generator/error.hpp"

namespace heddle {

/// Runs `work`, which must throw Error with this code and every one of these words in its message.
template <class Work>
void require_error(ErrorCode code, const std::vector<std::string>& words, Work work) {
  try {
    work();
  } catch (const Error& error) {
    CHECK(static_cast<int>(error.code()) == static_cast<int>(code));
    for (const std::string& word : words) CHECK_THAT(error.what(), Catch::Contains(word));
    return;
  }
  FAIL("no error was thrown");
}

}  // namespace heddle
