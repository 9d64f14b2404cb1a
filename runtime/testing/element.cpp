#include "runtime/testing/element.hpp"

#include <bit>

namespace heddle {
namespace {

constexpr std::uint32_t kFloatInfinity = 0x7f800000u;
constexpr std::uint32_t kFp16Overflow = 0x477ff000u;  // 65520: halfway past the largest, 65504
constexpr std::uint32_t kFp16SmallestNormal = 0x38800000u;  // 2^-14
constexpr std::uint32_t kFp16ExponentShift = 112u << 23;    // difference of the exponent biases

constexpr std::uint32_t kE4m3Largest = 0x43e00000u;         // 448
constexpr std::uint32_t kE4m3SmallestNormal = 0x3c800000u;  // 2^-6
constexpr std::uint32_t kE4m3ExponentShift = 120u << 23;
constexpr std::uint16_t kE4m3Nan = 0x7f;

/// Drops `bits` low bits of a magnitude, ties to even. The carry may walk into the exponent, which
/// is exactly what rounding up to the next power of two means.
constexpr std::uint32_t drop_bits(std::uint32_t magnitude, int bits) {
  const std::uint32_t half = (1u << (bits - 1)) - 1;
  return (magnitude + half + ((magnitude >> bits) & 1u)) >> bits;
}

}  // namespace

float fp16_to_float(std::uint16_t bits) noexcept {
  const std::uint32_t sign = (bits & 0x8000u) << 16;
  const std::uint32_t magnitude = bits & 0x7fffu;
  if (magnitude >= 0x7c00u) {
    return std::bit_cast<float>(sign | kFloatInfinity | ((magnitude & 0x3ffu) << 13));
  }
  if (magnitude < 0x0400u) {  // subnormal: a whole number of steps of 2^-24
    const float value = static_cast<float>(magnitude) * 0x1p-24f;
    return sign != 0 ? -value : value;
  }
  return std::bit_cast<float>(sign | ((magnitude << 13) + kFp16ExponentShift));
}

std::uint16_t fp16_from_float(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000u;
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  std::uint32_t result = 0;
  if (magnitude > kFloatInfinity) {
    result = 0x7e00u | ((magnitude >> 13) & 0x3ffu);
  } else if (magnitude >= kFp16Overflow) {
    result = 0x7c00u;
  } else if (magnitude >= kFp16SmallestNormal) {
    result = drop_bits(magnitude - kFp16ExponentShift, 13);
  } else {
    // Floats in [0.5, 1) lie 2^-24 apart, the step of fp16's subnormals: the addition rounds.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    result = std::bit_cast<std::uint32_t>(shifted) - std::bit_cast<std::uint32_t>(0.5f);
  }
  return static_cast<std::uint16_t>(sign | result);
}

float bf16_to_float(std::uint16_t bits) noexcept {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

std::uint16_t bf16_from_float(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const bool is_nan = (bits & 0x7fffffffu) > kFloatInfinity;
  // A NaN is cut, not rounded: rounding could carry its payload away into infinity.
  return static_cast<std::uint16_t>(is_nan ? (bits >> 16) | 0x0040u : drop_bits(bits, 16));
}

float e4m3_to_float(std::uint16_t bits) noexcept {
  const std::uint32_t sign = (bits & 0x80u) << 24;
  const std::uint32_t magnitude = bits & 0x7fu;
  if (magnitude == kE4m3Nan) return std::bit_cast<float>(sign | kFloatInfinity | (1u << 22));
  if (magnitude < 0x08u) {  // subnormal: a whole number of steps of 2^-9
    const float value = static_cast<float>(magnitude) * 0x1p-9f;
    return sign != 0 ? -value : value;
  }
  return std::bit_cast<float>(sign | ((magnitude << 20) + kE4m3ExponentShift));
}

std::uint16_t e4m3_from_float(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 24) & 0x80u;
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > kFloatInfinity) return kE4m3Nan;
  std::uint32_t result = 0;
  if (magnitude >= kE4m3Largest) {
    result = 0x7eu;
  } else if (magnitude >= kE4m3SmallestNormal) {
    result = drop_bits(magnitude - kE4m3ExponentShift, 20);
  } else {
    // Floats in [2^14, 2^15) lie 2^-9 apart, the step of e4m3's subnormals: the addition rounds.
    const float shifted = std::bit_cast<float>(magnitude) + 0x1p14f;
    result = std::bit_cast<std::uint32_t>(shifted) - std::bit_cast<std::uint32_t>(0x1p14f);
  }
  return static_cast<std::uint16_t>(sign | result);
}

float element_to_float(DataType type, std::uint16_t bits) {
  switch (type) {
    case DataType::kFp16:
      return fp16_to_float(bits);
    case DataType::kBf16:
      break;
    case DataType::kE4m3:
      return e4m3_to_float(bits);
  }
  return bf16_to_float(bits);
}

std::uint16_t element_from_float(DataType type, float value) {
  switch (type) {
    case DataType::kFp16:
      return fp16_from_float(value);
    case DataType::kBf16:
      break;
    case DataType::kE4m3:
      return e4m3_from_float(value);
  }
  return bf16_from_float(value);
}

float round_to_element(DataType type, float value) {
  return element_to_float(type, element_from_float(type, value));
}

}  // namespace heddle
