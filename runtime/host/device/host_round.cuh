#pragma once
// Conversions between fp32 and the narrow element types, bit for bit as cvt.rn does them: to
// nearest even, subnormals kept, overflow to infinity, every NaN to 0x7fff. e4m3 has no infinity:
// overflow gives the largest value, a NaN 0x7f. Back to fp32 every NaN becomes 0x7fffffff, but for
// bf16, which is widened by a shift.

namespace heddle::host {

inline unsigned float_bits(float value) {
  unsigned bits;
  __builtin_memcpy(&bits, &value, sizeof bits);
  return bits;
}
inline float bits_float(unsigned bits) {
  float value;
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}

/// Drops `count` low bits, ties to even. A carry into the exponent is what rounding up means.
inline unsigned drop_bits(unsigned magnitude, int count) {
  return (magnitude + (1u << (count - 1)) - 1 + (magnitude >> count & 1u)) >> count;
}

inline unsigned short bf16_bits(float value) {
  const unsigned bits = float_bits(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7fff;
  return static_cast<unsigned short>(drop_bits(bits, 16));
}
inline float bf16_value(unsigned short bits) {
  return bits_float(static_cast<unsigned>(bits) << 16);
}

inline unsigned short fp16_bits(float value) {
  const unsigned bits = float_bits(value);
  const unsigned sign = bits >> 16 & 0x8000u;
  const unsigned magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return 0x7fff;
  if (magnitude >= 0x477ff000u) return static_cast<unsigned short>(sign | 0x7c00u);  // >= 65520
  if (magnitude >= 0x38800000u) {                                                    // >= 2^-14
    return static_cast<unsigned short>(sign | drop_bits(magnitude - (112u << 23), 13));
  }
  // Floats in [0.5, 1) lie 2^-24 apart, as fp16's subnormals do: the addition rounds.
  return static_cast<unsigned short>(sign |
                                     (float_bits(bits_float(magnitude) + 0.5f) - float_bits(0.5f)));
}
inline float fp16_value(unsigned short bits) {
  const unsigned sign = (bits & 0x8000u) << 16;
  const unsigned magnitude = bits & 0x7fffu;
  if (magnitude > 0x7c00u) return bits_float(0x7fffffffu);  // cvt keeps neither sign nor payload
  if (magnitude == 0x7c00u) return bits_float(sign | 0x7f800000u);
  if (magnitude >= 0x0400u) return bits_float(sign | ((magnitude << 13) + (112u << 23)));
  const float value = static_cast<float>(magnitude) * 0x1p-24f;  // subnormal
  return bits_float(sign | float_bits(value));
}

inline unsigned char e4m3_bits(float value) {
  const unsigned bits = float_bits(value);
  const unsigned sign = bits >> 24 & 0x80u;
  const unsigned magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return 0x7f;
  if (magnitude >= 0x43e00000u) return static_cast<unsigned char>(sign | 0x7eu);  // >= 448
  if (magnitude >= 0x3c800000u) {                                                 // >= 2^-6
    return static_cast<unsigned char>(sign | drop_bits(magnitude - (120u << 23), 20));
  }
  // Floats in [2^14, 2^15) lie 2^-9 apart, as e4m3's subnormals do: the addition rounds.
  const float shifted = bits_float(magnitude) + 16384.0f;
  return static_cast<unsigned char>(sign | (float_bits(shifted) - float_bits(16384.0f)));
}
inline float e4m3_value(unsigned char bits) {
  const unsigned sign = (bits & 0x80u) << 24;
  const unsigned magnitude = bits & 0x7fu;
  if (magnitude == 0x7fu) return bits_float(0x7fffffffu);
  if (magnitude >= 0x08u) return bits_float(sign | ((magnitude << 20) + (120u << 23)));
  const float value = static_cast<float>(magnitude) * 0x1p-9f;  // subnormal
  return bits_float(sign | float_bits(value));
}

}  // namespace heddle::host
