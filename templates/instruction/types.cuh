#pragma once
// Element types and their conversions. Elements are bit patterns: arithmetic happens in fp32.

namespace heddle {

struct Half {
  unsigned short bits;
};

struct BFloat16 {
  unsigned short bits;
};

/// Two fp32 values rounded to nearest even into one register: `low` in bits 0-15.
inline unsigned pack(float low, float high, BFloat16) {
  unsigned packed;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
  return packed;
}

inline unsigned pack(float low, float high, Half) {
  unsigned packed;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
  return packed;
}

inline float to_float(BFloat16 element) {
  return __uint_as_float(static_cast<unsigned>(element.bits) << 16);
}

inline float to_float(Half element) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(element.bits));
  return value;
}

template <class Element>
inline Element from_float(float value) {
  return Element{static_cast<unsigned short>(pack(value, 0.0f, Element{}) & 0xffffu)};
}

/// Both elements of a packed register, as fp32.
template <class Element>
inline void unpack(unsigned packed, float& low, float& high) {
  low = to_float(Element{static_cast<unsigned short>(packed & 0xffffu)});
  high = to_float(Element{static_cast<unsigned short>(packed >> 16)});
}

/// False for NaN and both infinities: there every exponent bit is set.
inline bool is_finite(BFloat16 element) {
  return (element.bits & 0x7f80u) != 0x7f80u;
}
inline bool is_finite(Half element) {
  return (element.bits & 0x7c00u) != 0x7c00u;
}
inline bool is_finite(float value) {
  return (__float_as_uint(value) & 0x7f800000u) != 0x7f800000u;
}

/// `seen`, and NaN for those elements of a packed register that are NaN or Inf: times 0 they are
/// NaN, where finite ones are 0. `seen` holds zeros and NaNs.
inline unsigned note_nonfinite(unsigned seen, unsigned pair, BFloat16) {
  asm("fma.rn.bf16x2 %0, %1, %2, %0;" : "+r"(seen) : "r"(pair), "r"(0u));
  return seen;
}
inline unsigned note_nonfinite(unsigned seen, unsigned pair, Half) {
  asm("fma.rn.f16x2 %0, %1, %2, %0;" : "+r"(seen) : "r"(pair), "r"(0u));
  return seen;
}

}  // namespace heddle
