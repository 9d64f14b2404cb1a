#pragma once
// The host twin of templates/instruction/byte_permute.cuh.

namespace heddle {

inline unsigned byte_permute(unsigned low, unsigned high, unsigned selector) {
  const unsigned long long bytes = static_cast<unsigned long long>(high) << 32 | low;
  unsigned result = 0;
  for (int i = 0; i < 4; ++i) {
    const unsigned digit = selector >> (4 * i) & 0xfu;
    unsigned byte = static_cast<unsigned>(bytes >> (8 * (digit & 7u))) & 0xffu;
    if ((digit & 8u) != 0) byte = (byte & 0x80u) != 0 ? 0xffu : 0;  // bit 3: its sign, eight times
    result |= byte << (8 * i);
  }
  return result;
}

}  // namespace heddle
