#include "runtime/testing/element.hpp"

#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

using namespace heddle;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// The value of the pattern by the format's definition.
double fp16_value(int bits) {
  const int exponent = (bits >> 10) & 31;
  const int fraction = bits & 1023;
  const double magnitude =
      exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  return bits & 0x8000 ? -magnitude : magnitude;
}

double e4m3_value(int bits) {
  const int exponent = (bits >> 3) & 15;
  const int fraction = bits & 7;
  const double magnitude =
      exponent == 0 ? std::ldexp(fraction, -9) : std::ldexp(8 + fraction, exponent - 10);
  return bits & 0x80 ? -magnitude : magnitude;
}

bool is_fp16_nan(int bits) {
  return (bits & 0x7fff) > 0x7c00;
}
bool is_bf16_nan(int bits) {
  return (bits & 0x7fff) > 0x7f80;
}

}  // namespace

TEST_CASE("every fp16 pattern widens to its value and comes back") {
  int wrong = 0;
  for (int bits = 0; bits < 0x10000; ++bits) {
    const float value = fp16_to_float(static_cast<std::uint16_t>(bits));
    if (is_fp16_nan(bits)) {
      wrong += !std::isnan(value) || !is_fp16_nan(fp16_from_float(value));
      continue;
    }
    const bool infinite = (bits & 0x7fff) == 0x7c00;
    wrong +=
        infinite ? std::abs(value) != kInfinity : static_cast<double>(value) != fp16_value(bits);
    wrong += std::signbit(value) != ((bits & 0x8000) != 0);
    wrong += fp16_from_float(value) != bits;
  }
  CHECK(wrong == 0);
}

TEST_CASE("every bf16 pattern comes back") {
  int wrong = 0;
  for (int bits = 0; bits < 0x10000; ++bits) {
    const float value = bf16_to_float(static_cast<std::uint16_t>(bits));
    const int back = bf16_from_float(value);
    wrong += is_bf16_nan(bits) ? !std::isnan(value) || !is_bf16_nan(back) : back != bits;
  }
  CHECK(wrong == 0);
  CHECK(bf16_to_float(0x3f80) == 1.0f);
  CHECK(bf16_to_float(0xc049) == -3.140625f);
  CHECK(bf16_to_float(0x0001) == std::ldexp(1.0f, -133));
}

TEST_CASE("fp16 rounds to nearest even between all neighbours") {
  int wrong = 0;
  for (int bits = 0; bits < 0x7bff; ++bits) {
    const float low = static_cast<float>(fp16_value(bits));
    const float high = static_cast<float>(fp16_value(bits + 1));
    const float middle = low + (high - low) / 2;  // exact: floats have 13 more bits
    wrong += fp16_from_float(middle) != (bits % 2 == 0 ? bits : bits + 1);
    wrong += fp16_from_float(std::nextafter(middle, 0.0f)) != bits;
    wrong += fp16_from_float(std::nextafter(middle, kInfinity)) != bits + 1;
    wrong += fp16_from_float(-middle) != (0x8000 | (bits % 2 == 0 ? bits : bits + 1));
  }
  CHECK(wrong == 0);
}

TEST_CASE("bf16 rounds to nearest even between all neighbours") {
  int wrong = 0;
  for (std::uint32_t bits = 0; bits < 0x7f7f; ++bits) {
    const std::uint32_t middle = (bits << 16) | 0x8000u;
    const std::uint32_t even = bits % 2 == 0 ? bits : bits + 1;
    wrong += bf16_from_float(std::bit_cast<float>(middle)) != even;
    wrong += bf16_from_float(std::bit_cast<float>(middle - 1)) != bits;
    wrong += bf16_from_float(std::bit_cast<float>(middle + 1)) != bits + 1;
  }
  CHECK(wrong == 0);
}

TEST_CASE("narrowing at the ends of the range") {
  CHECK(fp16_from_float(65504.0f) == 0x7bff);
  CHECK(fp16_from_float(65519.99f) == 0x7bff);
  CHECK(fp16_from_float(65520.0f) == 0x7c00);
  CHECK(fp16_from_float(-1e30f) == 0xfc00);
  CHECK(fp16_from_float(std::ldexp(1.0f, -25)) == 0);  // tie, to even zero
  CHECK(fp16_from_float(std::ldexp(1.5f, -25)) == 1);
  CHECK(fp16_from_float(-0.0f) == 0x8000);
  CHECK(bf16_from_float(std::numeric_limits<float>::max()) == 0x7f80);
  CHECK(bf16_from_float(-kInfinity) == 0xff80);
  // A NaN whose payload lies in the bits that are dropped, and one that rounding would overflow.
  CHECK(is_bf16_nan(bf16_from_float(std::bit_cast<float>(0x7f800001u))));
  CHECK(is_bf16_nan(bf16_from_float(std::bit_cast<float>(0x7fffffffu))));
  CHECK(is_fp16_nan(fp16_from_float(std::bit_cast<float>(0x7f800001u))));
}

TEST_CASE("every e4m3 pattern widens to its value and comes back") {
  int wrong = 0;
  for (int bits = 0; bits < 0x100; ++bits) {
    const float value = e4m3_to_float(static_cast<std::uint16_t>(bits));
    if ((bits & 0x7f) == 0x7f) {
      wrong += !std::isnan(value) || e4m3_from_float(value) != 0x7f;
      continue;
    }
    wrong += static_cast<double>(value) != e4m3_value(bits);
    wrong += std::signbit(value) != ((bits & 0x80) != 0);
    wrong += e4m3_from_float(value) != bits;
    wrong += e4m3_to_float(static_cast<std::uint16_t>(0xab00 | bits)) != value;
  }
  CHECK(wrong == 0);
  CHECK(e4m3_to_float(0x7e) == 448.0f);
  CHECK(e4m3_to_float(0x01) == std::ldexp(1.0f, -9));
}

TEST_CASE("e4m3 rounds to nearest even between all neighbours") {
  int wrong = 0;
  for (int bits = 0; bits < 0x7e; ++bits) {
    const float low = static_cast<float>(e4m3_value(bits));
    const float high = static_cast<float>(e4m3_value(bits + 1));
    const float middle = low + (high - low) / 2;
    const int even = bits % 2 == 0 ? bits : bits + 1;
    wrong += e4m3_from_float(middle) != even;
    wrong += e4m3_from_float(std::nextafter(middle, 0.0f)) != bits;
    wrong += e4m3_from_float(std::nextafter(middle, kInfinity)) != bits + 1;
    wrong += e4m3_from_float(-middle) != (0x80 | even);
  }
  CHECK(wrong == 0);
}

TEST_CASE("e4m3 saturates, and has one NaN to give") {
  for (const float beyond : {448.1f, 464.0f, 480.0f, 1e30f, kInfinity}) {
    CHECK(e4m3_from_float(beyond) == 0x7e);
    CHECK(e4m3_from_float(-beyond) == 0xfe);
  }
  CHECK(e4m3_from_float(-0.0f) == 0x80);
  CHECK(e4m3_from_float(1e-30f) == 0);
  for (const std::uint32_t bits : {0x7f800001u, 0xffc00000u, 0x7fffffffu}) {
    CHECK(e4m3_from_float(std::bit_cast<float>(bits)) == 0x7f);
  }
}

TEST_CASE("by type: what storing and loading gives") {
  CHECK(round_to_element(DataType::kFp16, 1.0f / 3) == 0.333251953125f);
  CHECK(round_to_element(DataType::kBf16, 1.0f / 3) == 0.333984375f);
  CHECK(round_to_element(DataType::kE4m3, 1.0f / 3) == 0.34375f);
  CHECK(round_to_element(DataType::kE4m3, -500.0f) == -448.0f);
}
