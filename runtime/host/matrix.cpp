#include "runtime/host/matrix.hpp"

#include <cstring>

#include "runtime/host/product_slice.hpp"

namespace heddle {
namespace {

constexpr std::size_t kColumns = 8;

/// A register holds `per` elements that follow each other along the depth.
/// A: register i of lane l holds row l / 4 + 8 (i % 2), depth per (l % 4) + 4 per (i / 2) and on.
/// B: register i holds column l / 4, depth per (l % 4) + 4 per i and on.
ProductSlice gather(const WarpCalls& lanes, host::WarpOperation operation) {
  const ElementFormat format = element_format(operation);
  const int per = 4 / format.bytes;
  ProductSlice slice(operation, kColumns, kKeptBits);
  for (int lane = 0; lane < 32; ++lane) {
    const host::WarpCall& call = *lanes[static_cast<std::size_t>(lane)];
    for (int part = 0; part < per; ++part) {
      const int shift = 8 * format.bytes * part;
      const int depth = per * (lane % 4) + part;
      for (int i = 0; i < 4; ++i) {
        slice.a(lane / 4 + 8 * (i % 2), depth + 4 * per * (i / 2)) =
            static_cast<double>(element_value(call.a[i] >> shift, operation));
      }
      for (int i = 0; i < 2; ++i) {
        slice.b(depth + 4 * per * i, lane / 4) =
            static_cast<double>(element_value(call.b[i] >> shift, operation));
      }
    }
  }
  slice.prepare();
  return slice;
}

}  // namespace

void multiply_matrices(const WarpCalls& lanes, host::WarpOperation operation) {
  const ProductSlice slice = gather(lanes, operation);
  for (int lane = 0; lane < 32; ++lane) {
    float* accumulator = lanes[static_cast<std::size_t>(lane)]->accumulator;
    for (int i = 0; i < 4; ++i) {
      accumulator[i] = slice.sum(lane / 4 + 8 * (i / 2), 2 * (lane % 4) + i % 2, accumulator[i]);
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
