#pragma once
// NaN and Inf among packed elements. Of 16-bit ones instruction/types.cuh notes them.

#include "instruction/e4m3.cuh"
#include "instruction/types.cuh"

namespace heddle {

/// Both elements of a packed register with 0 for what is NaN or Inf.
template <class Element>
inline unsigned without_nonfinite(unsigned pair, Element) {
  const Element low{static_cast<unsigned short>(pair & 0xffffu)};
  const Element high{static_cast<unsigned short>(pair >> 16)};
  return pair & ((is_finite(low) ? 0xffffu : 0u) | (is_finite(high) ? 0xffff0000u : 0u));
}

/// Bit 7 of each of four packed elements: whether it is NaN. There is no infinity.
inline unsigned nan_bits(unsigned packed) {
  return ((packed & 0x7f7f7f7fu) + 0x01010101u) & 0x80808080u;
}

/// `seen`, and what is not 0 where one of four packed elements is NaN.
inline unsigned note_nonfinite(unsigned seen, unsigned packed, E4M3) {
  return seen | nan_bits(packed);
}

/// Four packed elements with 0 for those that are NaN.
inline unsigned without_nonfinite(unsigned packed, E4M3) {
  return packed & ~((nan_bits(packed) >> 7) * 0xffu);
}

}  // namespace heddle
