#pragma once
// fp16 and bf16 bit patterns to float and back. Widening is exact; narrowing rounds to nearest
// even, overflows to infinity, keeps subnormals, and keeps a NaN a NaN. No hardware support is
// assumed.

#include <cstdint>

#include "generator/problem.hpp"

namespace heddle {

float fp16_to_float(std::uint16_t bits) noexcept;
float bf16_to_float(std::uint16_t bits) noexcept;
std::uint16_t fp16_from_float(float value) noexcept;
std::uint16_t bf16_from_float(float value) noexcept;

/// By element type; throws kUnsupported for types that are not 16 bits wide.
float element_to_float(DataType type, std::uint16_t bits);
std::uint16_t element_from_float(DataType type, float value);

/// The value rounded to the element type: what storing and loading it gives.
float round_to_element(DataType type, float value);

}  // namespace heddle
