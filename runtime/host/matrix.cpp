#include "runtime/host/matrix.hpp"

#include <cstring>

#include "runtime/host/product_sum.hpp"

namespace heddle {
namespace {

constexpr int kRows = 16;
constexpr int kColumns = 8;
constexpr int kMostDepth = 32;

struct Operands {
  double a[kRows][kMostDepth];
  double b[kMostDepth][kColumns];
};

/// A register holds `per` elements that follow each other along the depth.
/// A: register i of lane l holds row l / 4 + 8 (i % 2), depth per (l % 4) + 4 per (i / 2) and on.
/// B: register i holds column l / 4, depth per (l % 4) + 4 per i and on.
Operands gather(const WarpCalls& lanes, host::WarpOperation operation) {
  const ElementFormat format = element_format(operation);
  const int per = 4 / format.bytes;
  Operands operands;
  for (int lane = 0; lane < 32; ++lane) {
    const host::WarpCall& call = *lanes[static_cast<std::size_t>(lane)];
    for (int part = 0; part < per; ++part) {
      const int shift = 8 * format.bytes * part;
      const int depth = per * (lane % 4) + part;
      for (int i = 0; i < 4; ++i) {
        operands.a[lane / 4 + 8 * (i % 2)][depth + 4 * per * (i / 2)] =
            static_cast<double>(element_value(call.a[i] >> shift, operation));
      }
      for (int i = 0; i < 2; ++i) {
        operands.b[depth + 4 * per * i][lane / 4] =
            static_cast<double>(element_value(call.b[i] >> shift, operation));
      }
    }
  }
  return operands;
}

}  // namespace

void multiply_matrices(const WarpCalls& lanes, host::WarpOperation operation) {
  const Operands operands = gather(lanes, operation);
  const int depth = element_format(operation).depth;
  double sums[kRows][kColumns] = {};
  for (int row = 0; row < kRows; ++row) {
    for (int k = 0; k < depth; ++k) {
      for (int column = 0; column < kColumns; ++column) {
        sums[row][column] += operands.a[row][k] * operands.b[k][column];
      }
    }
  }
  for (int lane = 0; lane < 32; ++lane) {
    float* accumulator = lanes[static_cast<std::size_t>(lane)]->accumulator;
    for (int i = 0; i < 4; ++i) {
      accumulator[i] =
          exact_sum(accumulator[i], sums[lane / 4 + 8 * (i / 2)][2 * (lane % 4) + i % 2]);
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

void store_matrices(const WarpCalls& lanes, bool transposed) {
  const int count = lanes[0]->argument;
  for (int matrix = 0; matrix < count; ++matrix) {
    unsigned short elements[8][8];
    for (int lane = 0; lane < 32; ++lane) {
      const unsigned packed = lanes[static_cast<std::size_t>(lane)]->a[matrix];
      const int major = lane / 4;
      for (int half = 0; half < 2; ++half) {
        const int minor = 2 * (lane % 4) + half;
        const auto element = static_cast<unsigned short>(packed >> (16 * half));
        (transposed ? elements[minor][major] : elements[major][minor]) = element;
      }
    }
    for (int row = 0; row < 8; ++row) {
      const void* address = lanes[static_cast<std::size_t>(8 * matrix + row)]->address;
      std::memcpy(const_cast<void*>(address), elements[row], 16);
    }
  }
}

}  // namespace heddle
