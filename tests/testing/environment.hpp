#pragma once
// What whoever runs a test may set in the environment.

#include <cstdint>
#include <cstdlib>
#include <random>

namespace heddle {

inline std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

/// $HEDDLE_SEED, else another one each time: whoever draws it prints it.
inline std::uint64_t drawn_seed() {
  return number_from("HEDDLE_SEED", std::random_device{}());
}

}  // namespace heddle
