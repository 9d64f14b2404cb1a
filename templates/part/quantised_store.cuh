#pragma once
// A quantiser's tile to memory as e4m3.

#include "instruction/e4m3.cuh"
#include "part/quantise_tile.cuh"
#include "warpgroup_layout.cuh"
#include "wgmma_fragment.cuh"

namespace heddle {

/// A scale makes the largest magnitude 448; where all are 0 it is 1.
inline float scale_of(float largest) {
  const float scale = largest / kLargestE4m3;
  return scale > 0.0f ? scale : 1.0f;
}

/// Four numbers times `factor`, rounded. Infinities become NaN, which e4m3 has: saturated they
/// would pass for numbers.
inline unsigned pack_scaled(const float* numbers, float factor) {
  float scaled[4];
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    scaled[j] = multiply_add(numbers[j], factor, numbers[j] - numbers[j]);
  }
  return pack(scaled[0], scaled[1], scaled[2], scaled[3], E4M3{});
}

/// Rows as they were.
template <class Config>
struct RowStore {
  static constexpr int kSharedBytes = 0;

  static void put(const QuantiseParameters& parameters, const QuantiseTile<Config>& tile, int i,
                  const QuantiserNumbers& numbers, float factor) {
    if (!tile.exists(i)) return;
    const TensorView& output = parameters.output;
    auto* row = static_cast<E4M3*>(output.data) +
                tile.flat_head() / parameters.heads * output.batch_stride +
                tile.flat_head() % parameters.heads * output.head_stride +
                tile.row(i) * output.row_stride;
    const Bytes<8> packed{{pack_scaled(numbers, factor), pack_scaled(numbers + 4, factor)}};
    store<8>(row + tile.first_column(), packed);
  }

  static void finish(const QuantiseParameters&, const QuantiseTile<Config>&) {}
};

/// Columns of keys in the order of 8-bit products, through shared memory: there a column has its
/// 128 keys in groups of 16, which trade places by the column, so that lanes meet different banks.
template <class Config>
struct TransposedStore {
  static constexpr int kSharedBytes = Config::kHeadDim * kQuantiserRows;
  static constexpr int kGroups = kQuantiserRows / kKeyGroup;

  static unsigned char* group_address(int column, int group) {
    const int place = group ^ column / kQuantiserElements % kGroups;
    return shared_memory() + column * kQuantiserRows + place * kKeyGroup;
  }

  static void put(const QuantiseParameters&, const QuantiseTile<Config>& tile, int i,
                  const QuantiserNumbers& numbers, float factor) {
    if (!tile.has_columns()) return;
    const int key = tile.tile_row(i);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const unsigned packed = pack_scaled(numbers + 4 * half, factor);
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        group_address(tile.first_column() + 4 * half + j,
                      key / kKeyGroup)[wgmma_8bit_position(key % kKeyGroup)] =
            static_cast<unsigned char>(packed >> 8 * j & 0xffu);
      }
    }
  }

  static void finish(const QuantiseParameters& parameters, const QuantiseTile<Config>& tile) {
    sync_block();
    const TensorView& output = parameters.output;
    auto* head = static_cast<E4M3*>(output.data) +
                 tile.flat_head() / parameters.heads * output.batch_stride +
                 tile.flat_head() % parameters.heads * output.head_stride;
    for (int i = thread_index(); i < Config::kHeadDim * kGroups; i += Config::kThreads) {
      const int column = i / kGroups;
      const int position = tile.tile() * kQuantiserRows + i % kGroups * kKeyGroup;
      if (position >= parameters.positions) continue;
      store_global(head + column * output.row_stride + position,
                   load<16>(group_address(column, i % kGroups)));
    }
  }
};

}  // namespace heddle
