#include "runtime/host/matrix.hpp"

#include <cmath>
#include <cstring>
#include <limits>

#include "runtime/host/device/host_round.cuh"

namespace heddle {
namespace {

constexpr int kRows = 16;
constexpr int kColumns = 8;
constexpr int kDepth = 16;

float widen(unsigned packed, int half, bool bfloat) {
  const auto bits = static_cast<unsigned short>(packed >> (16 * half));
  return bfloat ? host::bf16_value(bits) : host::fp16_value(bits);
}

float towards_zero(double value) {
  if (std::isnan(value)) return host::bits_float(0x7fffffffu);
  const auto nearest = static_cast<float>(value);
  if (std::isinf(value) || std::fabs(static_cast<double>(nearest)) <= std::fabs(value)) {
    return nearest;
  }
  return std::nextafter(nearest, 0.0f);
}

struct Operands {
  double a[kRows][kDepth];
  double b[kDepth][kColumns];
};

/// A: register i of lane l holds row l / 4 + 8 (i % 2), columns 2 (l % 4) + 8 (i / 2) and the next.
/// B: register i holds column l / 4, rows 2 (l % 4) + 8 i and the next.
Operands gather(const WarpCalls& lanes, bool bfloat) {
  Operands operands;
  for (int lane = 0; lane < 32; ++lane) {
    const host::WarpCall& call = *lanes[static_cast<std::size_t>(lane)];
    for (int i = 0; i < 4; ++i) {
      for (int half = 0; half < 2; ++half) {
        operands.a[lane / 4 + 8 * (i % 2)][2 * (lane % 4) + 8 * (i / 2) + half] =
            widen(call.a[i], half, bfloat);
      }
    }
    for (int i = 0; i < 2; ++i) {
      for (int half = 0; half < 2; ++half) {
        operands.b[2 * (lane % 4) + 8 * i + half][lane / 4] = widen(call.b[i], half, bfloat);
      }
    }
  }
  return operands;
}

}  // namespace

void multiply_matrices(const WarpCalls& lanes, host::WarpOperation operation) {
  const Operands operands = gather(lanes, operation == host::WarpOperation::kMultiplyBFloat16);
  double sums[kRows][kColumns] = {};
  for (int row = 0; row < kRows; ++row) {
    for (int k = 0; k < kDepth; ++k) {
      for (int column = 0; column < kColumns; ++column) {
        sums[row][column] += operands.a[row][k] * operands.b[k][column];
      }
    }
  }
  for (int lane = 0; lane < 32; ++lane) {
    float* accumulator = lanes[static_cast<std::size_t>(lane)]->accumulator;
    for (int i = 0; i < 4; ++i) {
      const double sum = sums[lane / 4 + 8 * (i / 2)][2 * (lane % 4) + i % 2];
      accumulator[i] = towards_zero(static_cast<double>(accumulator[i]) + sum);
    }
  }
}

void load_matrices(const WarpCalls& lanes, bool transposed) {
  const int count = lanes[0]->argument;
  for (int matrix = 0; matrix < count; ++matrix) {
    unsigned short elements[8][8];
    for (int row = 0; row < 8; ++row) {
      std::memcpy(elements[row], lanes[static_cast<std::size_t>(8 * matrix + row)]->address, 16);
    }
    for (int lane = 0; lane < 32; ++lane) {
      const int major = lane / 4;
      const int minor = 2 * (lane % 4);
      const unsigned low = transposed ? elements[minor][major] : elements[major][minor];
      const unsigned high = transposed ? elements[minor + 1][major] : elements[major][minor + 1];
      lanes[static_cast<std::size_t>(lane)]->a[matrix] = low | high << 16;
    }
  }
}

}  // namespace heddle
