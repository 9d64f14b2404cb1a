// wgmma, and the table of all matrix cases: exact on small integers and where one term is not zero,
// on random input bit for bit with the twin (16-bit elements) or near it (e4m3).
#include <algorithm>

#include "templates/swizzle.cuh"
#include "tests/gpu/twin_matrix.hpp"

namespace heddle {
namespace {

constexpr int kRows = 64, kSteps = 2;
constexpr MatrixFormat kFormats[] = {
    {DataType::kBf16, 2}, {DataType::kFp16, 2}, {DataType::kE4m3, 1}};

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
Bytes placed(const MatrixFormat& format, MatrixNumbers numbers, unsigned seed, int depth,
             const Place& place, bool transposed) {
  Bytes shared(kOperandBytes);
  const auto count = static_cast<std::size_t>(kRows * depth);
  const Bytes packed = matrix_elements(format, numbers, count, seed, [&](std::size_t i) {
    return i % static_cast<std::size_t>(depth);
  });
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

void add_shared_product(std::vector<TwinCase>& cases, const MatrixFormat& format,
                        MatrixNumbers numbers, const SharedProduct& product) {
  TwinCase twin = make_matrix_case(format, numbers, product.entry, 128);
  if (product.b_transposed) {
    twin.file = "matrix_mn.cu";
    twin.wgmma = {{64, OperandSource::kShared}};
  }
  const int depth = product.steps * format.depth();
  twin.input = placed(format, numbers, 5, depth, product.a, product.a_transposed);
  append(twin.input, placed(format, numbers, 6, depth, product.b, product.b_transposed));
  twin.output_bytes = 128ul * 4ul * static_cast<std::size_t>(product.registers);
  if (numbers == MatrixNumbers::kIntegers) {
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

void add_register_product(std::vector<TwinCase>& cases, const MatrixFormat& format,
                          MatrixNumbers numbers) {
  TwinCase twin = make_matrix_case(format, numbers, "from_registers", 128);
  const int depth = kSteps * format.depth();
  const int per = 4 / format.bytes;
  const Place b = tile_place({kRows, Swizzle::k128}, 0);
  twin.input = Bytes(kOperandBytes);
  append(twin.input, placed(format, numbers, 6, depth, b, false));
  append(twin.input,
         matrix_elements(format, numbers, static_cast<std::size_t>(128 * 4 * kSteps * per), 7,
                         [&](std::size_t i) {  // the depth of an element within its step
                           const auto reg = i / static_cast<std::size_t>(per) % 4;
                           const auto lane = i / static_cast<std::size_t>(4 * per * kSteps) % 4;
                           return static_cast<std::size_t>(per) * lane +
                                  i % static_cast<std::size_t>(per) +
                                  (reg >= 2 ? static_cast<std::size_t>(4 * per) : 0) +
                                  i / static_cast<std::size_t>(4 * per) % kSteps * 100;
                         }));
  std::vector<float> begin(128 * 32);
  for (std::size_t i = 0; i < begin.size(); ++i) {
    begin[i] = numbers == MatrixNumbers::kIntegers ? static_cast<float>(i % 513) - 256.0f : 0.0f;
  }
  append(twin.input, bytes_of(begin));
  twin.output_bytes = 128 * 32 * 4;
  if (numbers == MatrixNumbers::kIntegers) {
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
  for (const MatrixFormat& format : kFormats) {
    for (const MatrixNumbers numbers :
         {MatrixNumbers::kIntegers, MatrixNumbers::kOneTerm, MatrixNumbers::kRandom}) {
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
