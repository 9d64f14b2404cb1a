#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace heddle {

/// A 128-bit identity (XXH3). Never a security measure: collisions are accidents, not attacks.
struct Hash128 {
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  friend bool operator==(const Hash128&, const Hash128&) = default;
  friend auto operator<=>(const Hash128&, const Hash128&) = default;

  /// 32 lower-case hexadecimal digits, most significant first.
  std::string hex() const;
};

Hash128 hash_bytes(const void* data, std::size_t size) noexcept;
inline Hash128 hash_text(std::string_view text) noexcept {
  return hash_bytes(text.data(), text.size());
}

}  // namespace heddle
