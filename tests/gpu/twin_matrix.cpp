#include "tests/gpu/twin_matrix.hpp"

#include <fmt/format.h>

#include "runtime/host/device/host_round.cuh"

namespace heddle {
namespace {

constexpr std::string_view kNumbersNames[] = {"integers", "one term", "random"};

unsigned bits_of(float value, const MatrixFormat& format) {
  if (format.dtype == DataType::kE4m3) return host::e4m3_bits(value);
  return format.dtype == DataType::kFp16 ? host::fp16_bits(value) : host::bf16_bits(value);
}

/// Random sums of 8-bit products up to 1: how the tensor cores cut them is known within this. Those
/// of 16-bit elements agree bit for bit.
TwinBound bound_of(const MatrixFormat& format, MatrixNumbers numbers, int threads) {
  if (numbers != MatrixNumbers::kRandom || format.dtype != DataType::kE4m3) return {};
  const bool short_sums = threads == 128;
  return {0, short_sums ? 66 * 0x1p-13 : 34 * 0x1p-21};
}

}  // namespace

double value_of(unsigned bits, const MatrixFormat& format) {
  if (format.dtype == DataType::kE4m3) return host::e4m3_value(static_cast<unsigned char>(bits));
  const auto narrow = static_cast<unsigned short>(bits);
  return format.dtype == DataType::kFp16 ? host::fp16_value(narrow) : host::bf16_value(narrow);
}

double element_at(const Bytes& bytes, std::size_t byte, const MatrixFormat& format) {
  unsigned bits = 0;
  std::memcpy(&bits, &bytes[byte], static_cast<std::size_t>(format.bytes));
  return value_of(bits, format);
}

Bytes matrix_elements(const MatrixFormat& format, MatrixNumbers numbers, std::size_t count,
                      unsigned seed, const std::function<std::size_t(std::size_t)>& depth_of) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> unit(-1.0f, 1.0f);
  Bytes bytes;
  for (std::size_t i = 0; i < count; ++i) {
    const float integer = static_cast<float>(static_cast<int>(random() % 9) - 4);
    float value = numbers == MatrixNumbers::kIntegers ? integer : unit(random);
    if (numbers == MatrixNumbers::kOneTerm && depth_of(i) != 5) value = 0;
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

TwinCase make_matrix_case(const MatrixFormat& format, MatrixNumbers numbers,
                          const std::string& entry, int threads) {
  TwinCase twin;
  twin.entry = entry;
  twin.name = fmt::format("{} {} {}", entry, enum_name(format.dtype),
                          kNumbersNames[static_cast<std::size_t>(numbers)]);
  twin.file = "matrix.cu";
  twin.dtype = format.dtype;
  twin.threads = threads;
  twin.shared_bytes = 2 * kOperandBytes;
  twin.bound = bound_of(format, numbers, threads);
  twin.wgmma = {{64, OperandSource::kShared}, {64, OperandSource::kRegisters}};
  twin.wgmma.push_back({8, OperandSource::kShared});
  return twin;
}

}  // namespace heddle
