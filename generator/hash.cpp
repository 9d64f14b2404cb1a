#include "generator/hash.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace heddle {

std::string Hash128::hex() const {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text(32, '0');
  for (int digit = 0; digit < 16; ++digit) {
    text[15 - digit] = kDigits[(high >> (4 * digit)) & 15];
    text[31 - digit] = kDigits[(low >> (4 * digit)) & 15];
  }
  return text;
}

Hash128 hash_bytes(const void* data, std::size_t size) noexcept {
  const XXH128_hash_t hash = XXH3_128bits(data, size);
  return {hash.high64, hash.low64};
}

}  // namespace heddle
