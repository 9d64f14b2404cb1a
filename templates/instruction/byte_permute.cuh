#pragma once

namespace heddle {

/// Four of the eight bytes of `high`:`low` (byte 0 is the lowest of `low`, byte 4 of `high`):
/// hexadecimal digit i of `selector`, 0 to 7, names the source of byte i of the result.
inline unsigned byte_permute(unsigned low, unsigned high, unsigned selector) {
  unsigned result;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(result) : "r"(low), "r"(high), "r"(selector));
  return result;
}

}  // namespace heddle
