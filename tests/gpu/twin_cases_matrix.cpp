// mma.sync and wgmma: exact on small integers and where one term is not zero, near on random input.
#include <cmath>

#include <fmt/format.h>

#include "runtime/host/device/host_round.cuh"
#include "templates/swizzle.cuh"
#include "tests/gpu/twin_case.hpp"

namespace heddle {
namespace {

constexpr int kRows = 64, kOperandBytes = 8192, kSteps = 2;

enum class Numbers { kIntegers, kOneTerm, kRandom };
constexpr std::string_view kNumbersNames[] = {"integers", "one term", "random"};

struct Format {
  DataType dtype;
  int bytes;
  int depth() const { return 32 / bytes; }
};
constexpr Format kFormats[] = {{DataType::kBf16, 2}, {DataType::kFp16, 2}, {DataType::kE4m3, 1}};

unsigned bits_of(float value, const Format& format) {
  if (format.dtype == DataType::kE4m3) return host::e4m3_bits(value);
  return format.dtype == DataType::kFp16 ? host::fp16_bits(value) : host::bf16_bits(value);
}
double value_of(unsigned bits, const Format& format) {
  if (format.dtype == DataType::kE4m3) return host::e4m3_value(static_cast<unsigned char>(bits));
  const auto narrow = static_cast<unsigned short>(bits);
  return format.dtype == DataType::kFp16 ? host::fp16_value(narrow) : host::bf16_value(narrow);
}

/// Elements of an operand, packed. kOneTerm: those at depth 5 of `depth_of(index)` alone.
template <class DepthOf>
Bytes elements(const Format& format, Numbers numbers, std::size_t count, unsigned seed,
               DepthOf depth_of) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> unit(-1.0f, 1.0f);
  Bytes bytes;
  for (std::size_t i = 0; i < count; ++i) {
    const float integer = static_cast<float>(static_cast<int>(random() % 9) - 4);
    float value = numbers == Numbers::kIntegers ? integer : unit(random);
    if (numbers == Numbers::kOneTerm && depth_of(i) != 5) value = 0;
    const unsigned bits = bits_of(value, format);
    for (int byte = 0; byte < format.bytes; ++byte) {
      bytes.push_back(static_cast<unsigned char>(bits >> (8 * byte)));
    }
  }
  return bytes;
}

void append(Bytes& bytes, const Bytes& more) {
  bytes.insert(bytes.end(), more.begin(), more.end());
}

double element_at(const Bytes& bytes, std::size_t byte, const Format& format) {
  unsigned bits = 0;
  std::memcpy(&bits, &bytes[byte], static_cast<std::size_t>(format.bytes));
  return value_of(bits, format);
}

/// Random sums: products up to 1; the tensor cores cut terms far below the largest.
TwinBound bound_of(const Format& format, Numbers numbers, bool wgmma) {
  if (numbers != Numbers::kRandom) return {};
  const bool short_sums = format.dtype == DataType::kE4m3 && wgmma;
  return {0, short_sums ? 66 * 0x1p-13 : 34 * 0x1p-21};
}

TwinCase make(const Format& format, Numbers numbers, const std::string& entry, int threads) {
  TwinCase twin;
  twin.entry = entry;
  twin.name = fmt::format("{} {} {}", entry, enum_name(format.dtype),
                          kNumbersNames[static_cast<std::size_t>(numbers)]);
  twin.file = "matrix.cu";
  twin.dtype = format.dtype;
  twin.threads = threads;
  twin.shared_bytes = 2 * kOperandBytes;
  twin.bound = bound_of(format, numbers, threads == 128);
  twin.wgmma = {{64, OperandSource::kShared}, {64, OperandSource::kRegisters}};
  twin.wgmma.push_back({8, OperandSource::kShared});
  return twin;
}

// mma.sync: the PTX ISA's formulas for m16n8k16 and m16n8k32. groupID = lane / 4, and of thread t
// in its group, with `per` elements a register: a_i row groupID (+ 8 for the registers 1 and 3),
// column per t + i % per (+ 4 per for registers 2 and 3); b_i row the same, column groupID.
Bytes expect_mma(const Bytes& input, const Format& format) {
  const auto words = values_of<std::uint32_t>(input);
  const int per = 4 / format.bytes;
  const auto depth = static_cast<std::size_t>(format.depth());
  std::vector<double> a(16 * depth), b(depth * 8), d(16 * 8);
  for (std::size_t lane = 0; lane < 32; ++lane) {
    const std::size_t group = lane / 4, in_group = lane % 4;
    for (int i = 0; i < 4 * per; ++i) {
      const int reg = i / per, part = i % per;
      const unsigned bits = words[10 * lane + static_cast<std::size_t>(reg)] >> (32 / per * part);
      const std::size_t row = group + (reg == 1 || reg == 3 ? 8 : 0);
      const auto column = static_cast<std::size_t>(per) * in_group +
                          static_cast<std::size_t>(part + (reg >= 2 ? 4 * per : 0));
      a[row * depth + column] = value_of(bits, format);
    }
    for (int i = 0; i < 2 * per; ++i) {
      const int reg = i / per, part = i % per;
      const unsigned bits =
          words[10 * lane + 4 + static_cast<std::size_t>(reg)] >> (32 / per * part);
      const auto row = static_cast<std::size_t>(per) * in_group +
                       static_cast<std::size_t>(part + (reg == 1 ? 4 * per : 0));
      b[row * 8 + group] = value_of(bits, format);
    }
  }
  std::vector<float> out;
  for (std::size_t lane = 0; lane < 32; ++lane) {
    for (std::size_t i = 0; i < 4; ++i) {
      const std::size_t row = lane / 4 + (i < 2 ? 0 : 8), column = 2 * (lane % 4) + (i & 1);
      float begin = 0;
      std::memcpy(&begin, &words[10 * lane + 6 + i], sizeof begin);
      double sum = begin;
      for (std::size_t k = 0; k < depth; ++k) sum += a[row * depth + k] * b[k * 8 + column];
      out.push_back(static_cast<float>(sum));
    }
  }
  return bytes_of(out);
}

void add_mma(std::vector<TwinCase>& cases, const Format& format, Numbers numbers) {
  TwinCase twin = make(format, numbers, "mma", 32);
  const auto per = static_cast<std::size_t>(4 / format.bytes);
  std::mt19937 random(47);
  for (std::size_t lane = 0; lane < 32; ++lane) {
    const auto seed = static_cast<unsigned>(lane);
    // Element 5 of the depth: register 0 or, beyond 4 per, 2 (a) and 1 (b).
    append(twin.input, elements(format, numbers, 4 * per, 100 + seed, [&](std::size_t i) {
             return i / per % 4 < 2 ? per * (lane % 4) + i % per : 99;
           }));
    append(twin.input, elements(format, numbers, 2 * per, 200 + seed, [&](std::size_t i) {
             return i / per == 0 ? per * (lane % 4) + i % per : 99;
           }));
    std::vector<float> begin(4);
    for (float& value : begin) {
      const float integer = static_cast<float>(static_cast<int>(random() % 1001) - 500);
      value = numbers == Numbers::kIntegers ? integer : 0.0f;
    }
    append(twin.input, bytes_of(begin));
  }
  twin.output_bytes = 32 * 16;
  if (numbers == Numbers::kIntegers) {
    twin.expect = [format](const Bytes& input) { return expect_mma(input, format); };
  }
  cases.push_back(twin);
}

/// Byte of the tile for row `row` and byte `column` of an operand, as SwizzledTile has it.
using Place = std::function<std::size_t(int row, int column)>;

/// accumulators of all threads, from where operands lie. `a(row, k)`, `b(column, k)` give values.
template <class A, class B>
Bytes accumulators(int registers, int depth, A a, B b) {
  std::vector<float> out;
  for (int thread = 0; thread < 128; ++thread) {
    for (int i = 0; i < registers; ++i) {
      // PTX ISA, "Register fragments for wgmma D": row 16 warp + lane / 4 + 8 for odd pairs.
      const int lane = thread % 32;
      const int row = 16 * (thread / 32) + lane / 4 + 8 * ((i / 2) % 2);
      const int column = (i / 4) * 8 + (lane % 4) * 2 + (i % 2);
      double sum = 0;
      for (int k = 0; k < depth; ++k) sum += a(row, k) * b(column, k);
      out.push_back(static_cast<float>(sum));
    }
  }
  return bytes_of(out);
}

Place tile_place(SwizzledTile tile, int base) {
  return [=](int row, int column) {
    return static_cast<std::size_t>(base + tile.offset(row, column));
  };
}
/// Core matrices of eight rows of 16 bytes: along the depth 128 bytes on, along the rows 256.
Place plain_place(int base) {
  return [=](int row, int column) {
    return static_cast<std::size_t>(base + row / 8 * 256 + column / 16 * 128 + row % 8 * 16 +
                                    column % 16);
  };
}

/// One operand's values at their places in 8 KiB; rows = m or n, `depth` elements each.
Bytes placed(const Format& format, Numbers numbers, unsigned seed, int depth, const Place& place,
             bool transposed) {
  Bytes shared(kOperandBytes);
  const auto count = static_cast<std::size_t>(kRows * depth);
  const Bytes packed = elements(format, numbers, count, seed,
                                [&](std::size_t i) { return i % static_cast<std::size_t>(depth); });
  const auto width = static_cast<std::size_t>(format.bytes);
  for (int row = 0; row < kRows; ++row) {
    for (int k = 0; k < depth; ++k) {
      const std::size_t at =
          transposed ? place(k, row * format.bytes) : place(row, k * format.bytes);
      const auto from = static_cast<std::size_t>(row * depth + k) * width;
      std::copy_n(packed.begin() + static_cast<std::ptrdiff_t>(from), width,
                  shared.begin() + static_cast<std::ptrdiff_t>(at));
    }
  }
  return shared;
}

struct SharedProduct {
  const char* entry;
  int steps = kSteps;
  int registers = 32;
  Place a, b;  ///< relative to each operand
  bool a_transposed = false, b_transposed = false;
};

void add_shared_product(std::vector<TwinCase>& cases, const Format& format, Numbers numbers,
                        const SharedProduct& product) {
  TwinCase twin = make(format, numbers, product.entry, 128);
  if (product.b_transposed) {
    twin.file = "matrix_mn.cu";
    twin.wgmma = {{64, OperandSource::kShared}};
  }
  const int depth = product.steps * format.depth();
  twin.input = placed(format, numbers, 5, depth, product.a, product.a_transposed);
  append(twin.input, placed(format, numbers, 6, depth, product.b, product.b_transposed));
  twin.output_bytes = 128ul * 4ul * static_cast<std::size_t>(product.registers);
  if (numbers == Numbers::kIntegers) {
    twin.expect = [=](const Bytes& input) {
      const auto value = [&](const Place& place, bool transposed, int base, int row, int k) {
        const std::size_t at =
            transposed ? place(k, row * format.bytes) : place(row, k * format.bytes);
        return element_at(input, static_cast<std::size_t>(base) + at, format);
      };
      return accumulators(
          product.registers, depth,
          [&](int row, int k) { return value(product.a, product.a_transposed, 0, row, k); },
          [&](int column, int k) {
            return value(product.b, product.b_transposed, kOperandBytes, column, k);
          });
    };
  }
  cases.push_back(twin);
}

void add_register_product(std::vector<TwinCase>& cases, const Format& format, Numbers numbers) {
  TwinCase twin = make(format, numbers, "from_registers", 128);
  const int depth = kSteps * format.depth();
  const int per = 4 / format.bytes;
  const Place b = tile_place({kRows, Swizzle::k128}, 0);
  twin.input = Bytes(kOperandBytes);
  append(twin.input, placed(format, numbers, 6, depth, b, false));
  append(twin.input, elements(format, numbers, static_cast<std::size_t>(128 * 4 * kSteps * per), 7,
                              [&](std::size_t i) {  // the depth of an element within its step
                                const auto reg = i / static_cast<std::size_t>(per) % 4;
                                const auto lane =
                                    i / static_cast<std::size_t>(4 * per * kSteps) % 4;
                                return static_cast<std::size_t>(per) * lane +
                                       i % static_cast<std::size_t>(per) +
                                       (reg >= 2 ? static_cast<std::size_t>(4 * per) : 0) +
                                       i / static_cast<std::size_t>(4 * per) % kSteps * 100;
                              }));
  std::vector<float> begin(128 * 32);
  for (std::size_t i = 0; i < begin.size(); ++i) {
    begin[i] = numbers == Numbers::kIntegers ? static_cast<float>(i % 513) - 256.0f : 0.0f;
  }
  append(twin.input, bytes_of(begin));
  twin.output_bytes = 128 * 32 * 4;
  if (numbers == Numbers::kIntegers) {
    twin.expect = [=](const Bytes& input) {
      const auto a_element = [&](int row, int k) {
        // PTX ISA, "Register fragments for wgmma A": the inverse of its row and column formulas.
        const int step = k / format.depth(), column = k % format.depth();
        const int reg = (row % 16 >= 8 ? 1 : 0) + (column >= 4 * per ? 2 : 0);
        const int thread = 32 * (row / 16) + 4 * (row % 8) + column % (4 * per) / per;
        const int index = (thread * 4 * kSteps + 4 * step + reg) * per + column % per;
        return element_at(input, static_cast<std::size_t>(2 * kOperandBytes + index * format.bytes),
                          format);
      };
      const Bytes sums = accumulators(32, depth, a_element, [&](int column, int k) {
        return element_at(input, kOperandBytes + b(column, k * format.bytes), format);
      });
      auto values = values_of<float>(sums);
      for (std::size_t i = 0; i < values.size(); ++i) values[i] += begin[i];
      return bytes_of(values);
    };
  }
  cases.push_back(twin);
}

}  // namespace

void add_matrix_cases(std::vector<TwinCase>& cases) {
  const auto tile = [](int rows, Swizzle swizzle) { return tile_place({rows, swizzle}, 0); };
  for (const Format& format : kFormats) {
    for (const Numbers numbers : {Numbers::kIntegers, Numbers::kOneTerm, Numbers::kRandom}) {
      add_mma(cases, format, numbers);
      add_register_product(cases, format, numbers);
      const Place k128 = tile(64, Swizzle::k128), k64 = tile(64, Swizzle::k64),
                  k32 = tile(64, Swizzle::k32);
      const Place n128 = tile(32, Swizzle::k128), n64 = tile(32, Swizzle::k64),
                  n32 = tile(32, Swizzle::k32);
      add_shared_product(cases, format, numbers, {"k_major128", 2, 32, k128, k128});
      add_shared_product(cases, format, numbers, {"k_major64", 2, 32, k64, k64});
      add_shared_product(cases, format, numbers, {"k_major32", 2, 32, k32, k32});
      add_shared_product(cases, format, numbers, {"k_major_narrow", 2, 4, k128, k128});
      add_shared_product(cases, format, numbers, {"plain", 1, 32, plain_place(0), plain_place(0)});
      if (format.bytes == 1) continue;
      add_shared_product(cases, format, numbers, {"b_mn128", 2, 32, k128, n128, false, true});
      add_shared_product(cases, format, numbers, {"b_mn64", 2, 32, k128, n64, false, true});
      add_shared_product(cases, format, numbers, {"b_mn32", 2, 32, k128, n32, false, true});
      add_shared_product(cases, format, numbers, {"both_mn128", 2, 32, n128, n128, true, true});
      add_shared_product(cases, format, numbers, {"both_mn64", 2, 32, n64, n64, true, true});
    }
  }
}

}  // namespace heddle
