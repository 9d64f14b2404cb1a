#pragma once
// The host twin of templates/instruction/types.cuh.

#include "host_round.cuh"

namespace heddle {

struct Half {
  unsigned short bits;
};

struct BFloat16 {
  unsigned short bits;
};

inline unsigned pack(float low, float high, BFloat16) {
  return host::bf16_bits(low) | static_cast<unsigned>(host::bf16_bits(high)) << 16;
}
inline unsigned pack(float low, float high, Half) {
  return host::fp16_bits(low) | static_cast<unsigned>(host::fp16_bits(high)) << 16;
}

inline float to_float(BFloat16 element) {
  return host::bf16_value(element.bits);
}
inline float to_float(Half element) {
  return host::fp16_value(element.bits);
}

template <class Element>
inline Element from_float(float value) {
  return Element{static_cast<unsigned short>(pack(value, 0.0f, Element{}) & 0xffffu)};
}

template <class Element>
inline void unpack(unsigned packed, float& low, float& high) {
  low = to_float(Element{static_cast<unsigned short>(packed & 0xffffu)});
  high = to_float(Element{static_cast<unsigned short>(packed >> 16)});
}

inline bool is_finite(BFloat16 element) {
  return (element.bits & 0x7f80u) != 0x7f80u;
}
inline bool is_finite(Half element) {
  return (element.bits & 0x7c00u) != 0x7c00u;
}
inline bool is_finite(float value) {
  return (__float_as_uint(value) & 0x7f800000u) != 0x7f800000u;
}

template <class Element>
inline unsigned note_nonfinite(unsigned seen, unsigned pair, Element) {
  unsigned noted = 0;
  for (int shift = 0; shift < 32; shift += 16) {
    const Element before{static_cast<unsigned short>(seen >> shift)};
    const Element element{static_cast<unsigned short>(pair >> shift)};
    if (!is_finite(before) || !is_finite(element)) noted |= 0x7fffu << shift;
  }
  return noted;
}

}  // namespace heddle
