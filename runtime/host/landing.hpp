#pragma once

#include <string_view>

#include "generator/field.hpp"

namespace heddle {

/// When asynchronous effects become visible: a kernel must be right under each.
enum class Landing {
  kLatest,    ///< at the wait that asks for them
  kEarliest,  ///< at once
  kRandom,    ///< some at once, some at the wait, some in between
};
template <>
struct EnumNames<Landing> {
  static constexpr std::array names{std::pair{Landing::kLatest, std::string_view("latest")},
                                    std::pair{Landing::kEarliest, std::string_view("earliest")},
                                    std::pair{Landing::kRandom, std::string_view("random")}};
};

}  // namespace heddle
