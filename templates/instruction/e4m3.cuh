#pragma once
// The 8-bit element type e4m3 (sm_89+): four exponent bits, three of mantissa, largest value 448,
// no infinity, NaN is 0x7f and 0xff.

#include "instruction/types.cuh"

namespace heddle {

struct E4M3 {
  unsigned char bits;
};

/// Two fp32 values rounded to nearest even into the low half of a register: `low` in bits 0-7.
/// Beyond 448, infinities too, they become +-448; NaN stays NaN.
inline unsigned pack(float low, float high, E4M3) {
  unsigned short packed;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(packed) : "f"(high), "f"(low));
  return packed;
}

/// Four of them into one register, `a` in bits 0-7. In one asm, so that ptxas merges the halves as
/// part of the second conversion.
inline unsigned pack(float a, float b, float c, float d, E4M3) {
  unsigned packed;
  asm("{\n"
      ".reg .b16 low, high;\n"
      "cvt.rn.satfinite.e4m3x2.f32 low, %2, %1;\n"
      "cvt.rn.satfinite.e4m3x2.f32 high, %4, %3;\n"
      "mov.b32 %0, {low, high};\n"
      "}"
      : "=r"(packed)
      : "f"(a), "f"(b), "f"(c), "f"(d));
  return packed;
}

template <>
inline E4M3 from_float<E4M3>(float value) {
  return E4M3{static_cast<unsigned char>(pack(value, 0.0f, E4M3{}) & 0xffu)};
}

/// The two elements in bits 0-15 as fp16, which holds every e4m3 value exactly.
inline unsigned to_half2(unsigned packed, E4M3) {
  unsigned halves;
  asm("cvt.rn.f16x2.e4m3x2 %0, %1;"
      : "=r"(halves)
      : "h"(static_cast<unsigned short>(packed & 0xffffu)));
  return halves;
}

/// The same as fp32.
template <>
inline void unpack<E4M3>(unsigned packed, float& low, float& high) {
  unpack<Half>(to_half2(packed, E4M3{}), low, high);
}

inline float to_float(E4M3 element) {
  float value, zero;
  unpack<E4M3>(element.bits, value, zero);
  return value;
}

inline bool is_finite(E4M3 element) {
  return (element.bits & 0x7fu) != 0x7fu;
}

}  // namespace heddle
