#pragma once
// The host twin of templates/instruction/e4m3.cuh.

#include "instruction/types.cuh"

namespace heddle {

struct E4M3 {
  unsigned char bits;
};

inline unsigned pack(float low, float high, E4M3) {
  return host::e4m3_bits(low) | static_cast<unsigned>(host::e4m3_bits(high)) << 8;
}
inline unsigned pack(float a, float b, float c, float d, E4M3) {
  return pack(a, b, E4M3{}) | pack(c, d, E4M3{}) << 16;
}

template <>
inline E4M3 from_float<E4M3>(float value) {
  return E4M3{host::e4m3_bits(value)};
}

inline unsigned to_half2(unsigned packed, E4M3) {
  const auto half = [&](int at) {
    return static_cast<unsigned>(
        host::fp16_bits(host::e4m3_value(static_cast<unsigned char>(packed >> at & 0xffu))));
  };
  return half(0) | half(8) << 16;
}

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
