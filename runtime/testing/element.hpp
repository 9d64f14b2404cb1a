#pragma once
// fp16, bf16 and e4m3 bit patterns to float and back. Widening is exact; narrowing rounds to
// nearest even, overflows to infinity, keeps subnormals, and keeps a NaN a NaN. e4m3 has no
// infinity: what is beyond its largest number, 448, becomes that number. No hardware support is
// assumed.

#include <cstdint>

#include "generator/problem.hpp"

namespace heddle {

float fp16_to_float(std::uint16_t bits) noexcept;
float bf16_to_float(std::uint16_t bits) noexcept;
std::uint16_t fp16_from_float(float value) noexcept;
std::uint16_t bf16_from_float(float value) noexcept;

/// e4m3 lies in the low byte; the high one is not looked at, and written as 0.
float e4m3_to_float(std::uint16_t bits) noexcept;
/// As cvt.rn.satfinite.e4m3x2.f32 does it: infinities become +-448 too, every NaN 0x7f.
std::uint16_t e4m3_from_float(float value) noexcept;

/// By element type.
float element_to_float(DataType type, std::uint16_t bits);
std::uint16_t element_from_float(DataType type, float value);

/// The value rounded to the element type: what storing and loading it gives.
float round_to_element(DataType type, float value);

}  // namespace heddle
