// Conversions, bit patterns, scalar arithmetic.
#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/gpu/twin_case.hpp"

namespace heddle {
namespace {

/// A narrow type as its definition has it: exponent and mantissa bits, and what the largest
/// exponent means.
struct Format {
  int exponent_bits;
  int mantissa_bits;
  bool has_infinity;  ///< else only the last pattern is NaN, and too large values saturate
};
constexpr Format kBf16{8, 7, true}, kFp16{5, 10, true}, kE4m3{4, 3, false};

constexpr std::uint32_t kOneNan = 0x7fffffff;  ///< what cvt and max make of NaNs on an H200

double value_of(unsigned bits, const Format& format) {
  const int bias = (1 << (format.exponent_bits - 1)) - 1;
  const unsigned mantissa = bits & ((1u << format.mantissa_bits) - 1);
  const auto exponent =
      static_cast<int>(bits >> format.mantissa_bits & ((1u << format.exponent_bits) - 1));
  const bool last = exponent == (1 << format.exponent_bits) - 1;
  const double sign = (bits >> (format.exponent_bits + format.mantissa_bits) & 1u) != 0 ? -1 : 1;
  if (last && format.has_infinity) {
    return mantissa == 0 ? sign * std::numeric_limits<double>::infinity()
                         : std::numeric_limits<double>::quiet_NaN();
  }
  if (last && mantissa == (1u << format.mantissa_bits) - 1) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  const double fraction = std::ldexp(mantissa, -format.mantissa_bits);
  return exponent == 0 ? sign * std::ldexp(fraction, 1 - bias)
                       : sign * std::ldexp(1 + fraction, exponent - bias);
}

/// To nearest, ties to the even pattern, by trying all patterns near.
unsigned narrowed(float value, const Format& format) {
  const unsigned sign_bit = 1u << (format.exponent_bits + format.mantissa_bits);
  if (std::isnan(value)) return sign_bit - 1;
  const unsigned sign = std::signbit(value) ? sign_bit : 0;
  const double magnitude = std::fabs(static_cast<double>(value));
  unsigned low = 0;
  unsigned high = sign_bit - 1;  // the first pattern that is not a finite value, at the end
  while (!std::isfinite(value_of(high - 1, format))) --high;
  const unsigned first_beyond = high;
  while (low + 1 < high) {
    const unsigned middle = (low + high) / 2;
    (value_of(middle, format) <= magnitude ? low : high) = middle;
  }
  if (low + 1 == first_beyond && !format.has_infinity) return sign | low;
  const double below = value_of(low, format);
  const int bias = (1 << (format.exponent_bits - 1)) - 1;
  const double above =
      low + 1 == first_beyond ? std::ldexp(1.0, bias + 1) : value_of(low + 1, format);
  const double gap_below = magnitude - below;
  const double gap_above = above - magnitude;
  const bool up = gap_above < gap_below || (gap_above == gap_below && low % 2 == 1);
  return sign | (up ? low + 1 : low);
}

/// Floats of every kind: all exponents, ties of the narrow types, special values.
std::vector<float> many_floats(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> floats;
  const auto add = [&](std::uint32_t bits) {
    float value = 0;
    std::memcpy(&value, &bits, sizeof value);
    floats.push_back(value);
  };
  for (const std::uint32_t bits :
       {0x00000000u, 0x80000000u, 0x7f800000u, 0xff800000u, 0x7fc00000u, 0xffffffffu,
        0x7f800001u, 0x7f7fffffu, 0x00000001u, 0x807fffffu, 0x00800000u, 0x477fefffu,
        0x477ff000u, 0x43e00000u, 0x43e7ffffu, 0x43e80000u, 0x43e80001u, 0x3a800000u,
        0x3a7fffffu, 0x33000000u, 0x33000001u}) {
    add(bits);
  }
  const auto next = [&] { return static_cast<std::uint32_t>(random()); };
  while (floats.size() < count) {
    std::uint32_t made = next();
    // A third are ties or next to ties of some width; half of all lie near 1.
    if (next() % 3 == 0) {
      const std::uint32_t drop = 13 + next() % 9;
      made = (made >> drop << drop | 1u << (drop - 1)) + next() % 3 - 1;
    }
    if (next() % 2 == 0) made = (made & 0x807fffffu) | (112 + next() % 30) << 23;
    add(made);
  }
  return floats;
}

TwinCase make(const std::string& entry, const std::string& file, const std::vector<float>& input,
              std::size_t results) {
  TwinCase twin;
  twin.name = twin.entry = entry;
  twin.file = file;
  twin.threads = 256;
  twin.number = static_cast<int>(results);
  twin.output_bytes = 4 * results;
  twin.input = bytes_of(input);
  return twin;
}

void add_narrow(std::vector<TwinCase>& cases, const char* entry, const Format& format, int per) {
  const auto floats = many_floats(1 << 16, 17);
  TwinCase twin = make(entry, "elements.cu", floats, floats.size() / static_cast<std::size_t>(per));
  const int bits = 1 + format.exponent_bits + format.mantissa_bits;
  twin.expect = [=](const Bytes& input) {
    const auto values = values_of<float>(input);
    std::vector<std::uint32_t> words(values.size() / static_cast<std::size_t>(per));
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto part = static_cast<int>(i) % per;
      words[i / static_cast<std::size_t>(per)] |= narrowed(values[i], format) << (bits * part);
    }
    return bytes_of(words);
  };
  cases.push_back(twin);
}

void add_widen(std::vector<TwinCase>& cases, const char* entry, const Format& format) {
  const unsigned patterns = 1u << (1 + format.exponent_bits + format.mantissa_bits);
  TwinCase twin = make(entry, "elements.cu", {0.0f}, 4ul * patterns);
  twin.number = static_cast<int>(patterns);
  twin.expect = [=](const Bytes&) {
    std::vector<std::uint32_t> words;
    const auto add = [&](unsigned bits) {
      bits %= patterns;
      const auto value = static_cast<float>(value_of(bits, format));
      words.emplace_back();
      std::memcpy(&words.back(), &value, sizeof value);
      // cvt makes one NaN of all; bf16 is widened by a shift.
      if (std::isnan(value)) words.back() = format.mantissa_bits == 7 ? bits << 16 : kOneNan;
    };
    for (unsigned i = 0; i < patterns; ++i) {
      const unsigned packed = i * 0x0101u;
      add(i);
      words.push_back(std::isfinite(value_of(i, format)));
      add(packed);
      add(format.has_infinity ? packed >> 16 : packed >> 8);
    }
    return bytes_of(words);
  };
  cases.push_back(twin);
}

void add_math(std::vector<TwinCase>& cases, const char* entry, TwinBound bound, float low,
              float high) {
  auto floats = many_floats(1 << 12, 23);
  std::mt19937 random(29);
  std::uniform_real_distribution<float> inside(low, high);
  while (floats.size() < 1 << 16) floats.push_back(inside(random));
  TwinCase twin = make(entry, "math.cu", floats, floats.size());
  twin.bound = bound;
  cases.push_back(twin);
}

/// The larger of neighbours: a number before a NaN, +0 before -0.
void add_larger(std::vector<TwinCase>& cases) {
  add_math(cases, "larger", {0, 0}, -3.0f, 3.0f);
  cases.back().expect = [](const Bytes& input) {
    const auto values = values_of<float>(input);
    auto words = values_of<std::uint32_t>(input);
    for (std::size_t i = 0; i < values.size(); i += 2) {
      const float left = values[i], right = values[i + 1];
      const bool first =
          std::isnan(right) || left > right || (left == right && std::signbit(right));
      words[i] = std::isnan(left) && std::isnan(right) ? kOneNan : words[first ? i : i + 1];
      words[i + 1] = words[i];
    }
    return bytes_of(words);
  };
}

void add_integers(std::vector<TwinCase>& cases) {
  TwinCase twin = make("integers", "math.cu", {}, 512);
  auto numbers = values_of<std::int32_t>(random_bytes(8 * 512, 37));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] >>= i / 2 % 32;
    if (i % 2 == 1) numbers[i] = (numbers[i] & 0x7fffffff) | 1;
    if (i % 16 == 1) numbers[i - 1] = numbers[i];  // divides
  }
  twin.output_bytes = std::size_t{24} * 512;
  twin.input = bytes_of(numbers);
  twin.expect = [](const Bytes& input) {
    const auto values = values_of<std::int32_t>(input);
    std::vector<std::int32_t> words;
    for (std::size_t i = 0; i < values.size(); i += 2) {
      const std::int64_t a = values[i], b = values[i + 1], product = a * b;
      const std::int64_t dividend = a & 0x7fffffff;
      for (const std::int64_t word : {std::min(a, b), std::max(a, b), (dividend + b - 1) / b,
                                      product, product >> 32, std::int64_t{0x7f800000}}) {
        words.push_back(static_cast<std::int32_t>(static_cast<std::uint32_t>(word)));
      }
    }
    return bytes_of(words);
  };
  cases.push_back(twin);
}

/// Every pattern in the low half, then with another one in the high half.
void add_note(std::vector<TwinCase>& cases, const char* entry, std::uint32_t exponent) {
  constexpr std::uint32_t kPatterns = 1 << 16;
  TwinCase twin = make(entry, "elements.cu", {}, kPatterns);
  twin.output_bytes = std::size_t{8} * kPatterns;
  twin.expect = [exponent](const Bytes&) {
    std::vector<std::uint32_t> words;
    for (std::uint32_t bits = 0; bits < kPatterns; ++bits) {
      const auto noted = [&](std::uint32_t pattern) {
        return (pattern & exponent) == exponent ? 0x7fffu : 0u;
      };
      words.insert(words.end(), {noted(bits), noted(bits) | noted(bits ^ 0x155u) << 16});
    }
    return bytes_of(words);
  };
  cases.push_back(twin);
}

}  // namespace

void add_element_cases(std::vector<TwinCase>& cases) {
  add_narrow(cases, "narrow_bf16", kBf16, 2);
  add_narrow(cases, "narrow_fp16", kFp16, 2);
  add_narrow(cases, "narrow_e4m3", kE4m3, 2);
  add_narrow(cases, "narrow_four", kE4m3, 4);
  add_narrow(cases, "narrow_one_bf16", kBf16, 1);
  add_narrow(cases, "narrow_one_fp16", kFp16, 1);
  add_narrow(cases, "narrow_one_e4m3", kE4m3, 1);
  add_widen(cases, "widen_bf16", kBf16);
  add_widen(cases, "widen_fp16", kFp16);
  add_widen(cases, "widen_e4m3", kE4m3);
  add_note(cases, "note_bf16", 0x7f80u);
  add_note(cases, "note_fp16", 0x7c00u);
  TwinCase halves = make("to_halves", "elements.cu", {0.0f}, 256);
  cases.push_back(halves);
  TwinCase bytes = make("bytes_permuted", "elements.cu", {}, 1024);
  bytes.input = random_bytes(12 * 1024, 31);
  bytes.expect = [](const Bytes& input) {
    Bytes out;
    for (std::size_t i = 0; i < 1024; ++i) {
      const unsigned char* source = &input[12 * i];  // eight bytes, then the selector
      for (std::size_t digit = 0; digit < 4; ++digit) {
        out.push_back(source[source[8 + digit / 2] >> (digit % 2 * 4) & 7]);
      }
    }
    return out;
  };
  cases.push_back(bytes);
  // PTX: ex2.approx 2 ulp, rcp.approx 1 ulp, lg2.approx 2^-22 absolute near 1, relative elsewhere;
  // the host's own function adds its half.
  add_math(cases, "power", {3, 0}, -150.0f, 130.0f);
  add_math(cases, "logarithm", {5, 0x1p-21}, 0.0f, 4.0f);
  add_math(cases, "natural", {6, 0x1p-21}, 0.0f, 4.0f);
  add_math(cases, "reciprocal", {2, 0}, -3.0f, 3.0f);
  add_math(cases, "fused", {0, 0}, -3.0f, 3.0f);
  add_math(cases, "product", {0, 0}, -3.0f, 3.0f);
  add_math(cases, "magnitude", {0, 0}, -3.0f, 3.0f);
  add_larger(cases);
  add_integers(cases);
  add_math(cases, "exact_exp", {3, 0}, -90.0f, 90.0f);
  add_math(cases, "exact_log", {3, 0}, 0.0f, 4.0f);
  add_math(cases, "double_exp", {1, 0}, -90.0f, 90.0f);
  add_math(cases, "double_log", {1, 0}, 0.0f, 4.0f);
}

}  // namespace heddle
