// mma.sync: exact on small integers and where one term is not zero, bit for bit with
// the twin on random input, too.
#include "tests/gpu/twin_matrix.hpp"

namespace heddle {
namespace {

// The PTX ISA's formulas for m16n8k16 and m16n8k32. groupID = lane / 4, and of thread t in its
// group, with `per` elements a register: a_i row groupID (+ 8 for the registers 1 and 3), column
// per t + i % per (+ 4 per for registers 2 and 3); b_i row the same, column groupID.
Bytes expect_mma(const Bytes& input, const MatrixFormat& format) {
  const auto words = values_of<std::uint32_t>(input);
  const int per = 4 / format.bytes;
  const auto depth = static_cast<std::size_t>(format.depth());
  std::vector<double> a(16 * depth), b(depth * 8);
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

}  // namespace

void add_mma(std::vector<TwinCase>& cases, const MatrixFormat& format, MatrixNumbers numbers) {
  TwinCase twin = make_matrix_case(format, numbers, "mma", 32);
  const auto per = static_cast<std::size_t>(4 / format.bytes);
  std::mt19937 random(47);
  for (std::size_t lane = 0; lane < 32; ++lane) {
    const auto seed = static_cast<unsigned>(lane);
    // Element 5 of the depth: register 0 or, beyond 4 per, 2 (a) and 1 (b).
    append(twin.input, matrix_elements(format, numbers, 4 * per, 100 + seed, [&](std::size_t i) {
             return i / per % 4 < 2 ? per * (lane % 4) + i % per : 99;
           }));
    append(twin.input, matrix_elements(format, numbers, 2 * per, 200 + seed, [&](std::size_t i) {
             return i / per == 0 ? per * (lane % 4) + i % per : 99;
           }));
    std::vector<float> begin(4);
    for (float& value : begin) {
      const float integer = static_cast<float>(static_cast<int>(random() % 1001) - 500);
      value = numbers == MatrixNumbers::kIntegers ? integer : 0.0f;
    }
    append(twin.input, bytes_of(begin));
  }
  twin.output_bytes = 32 * 16;
  if (numbers == MatrixNumbers::kIntegers) {
    twin.expect = [format](const Bytes& input) { return expect_mma(input, format); };
  }
  cases.push_back(twin);
}

}  // namespace heddle
