#pragma once
// A quantiser's tile to memory as e4m3.

#include "instruction/byte_permute.cuh"
#include "instruction/e4m3.cuh"
#include "part/quantise_tile.cuh"
#include "warpgroup_layout.cuh"

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
class RowStore {
  using Tile = QuantiseTile<Config>;

 public:
  static constexpr int kSharedBytes = 0;

  RowStore(const QuantiseParameters& parameters, const Tile& tile)
      : first_(tile.template head_in<E4M3>(parameters.output) + Tile::first_column()),
        row_stride_(parameters.output.row_stride) {}

  void put(const Tile& tile, int i, const typename Tile::Numbers& numbers, float factor) {
    if (!tile.exists(i)) return;
#pragma unroll
    for (int chunk = 0; chunk < Tile::kChunks; ++chunk) {
      const Bytes<8> packed{
          {pack_scaled(numbers[chunk], factor), pack_scaled(numbers[chunk] + 4, factor)}};
      store<8>(first_ + tile.row(i) * row_stride_ + chunk * kQuantiserChunk, packed);
    }
  }

  static void finish(const QuantiseParameters&, const Tile&) {}

 private:
  E4M3* first_;  ///< this thread's column of the head's first row
  long long row_stride_;
};

/// Columns of keys in the order of 8-bit products, through shared memory. A thread's four keys are
/// neighbours in that order: a word of each of its columns. In shared memory a column has its keys
/// in groups of 16, which trade places by the column, so that lanes meet different banks.
template <class Config>
class TransposedStore {
  using Tile = QuantiseTile<Config>;
  static constexpr int kGroups = Config::kTileRows / kKeyGroup;
  static constexpr int kLine = 8;  ///< groups that lie in different banks
  static_assert(!Config::kTransposedValues ||
                    (Tile::kChunks == 1 && Tile::kRows == 4 && kLine % kGroups == 0),
                "a thread has a word of each of eight columns, a line whole columns");

 public:
  static constexpr int kSharedBytes = Config::kHeadDim * Config::kTileRows;

  TransposedStore(const QuantiseParameters&, const Tile&) {}

  void put(const Tile&, int i, const typename Tile::Numbers& numbers, float factor) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      packed_[half][i] = pack_scaled(numbers[0] + 4 * half, factor);
    }
  }

  void finish(const QuantiseParameters& parameters, const Tile& tile) const {
    if (tile.has_columns()) {
#pragma unroll
      for (int half = 0; half < 2; ++half)
        store_words(Tile::first_column() + 4 * half, packed_[half]);
    }
    sync_block();
    auto* head = tile.template head_in<E4M3>(parameters.output);
    for (int i = thread_index(); i < Config::kHeadDim * kGroups; i += Config::kThreads) {
      const int column = i / kGroups;
      const int position = tile.tile() * Config::kTileRows + i % kGroups * kKeyGroup;
      if (position >= parameters.positions) continue;
      store_global(head + column * parameters.output.row_stride + position,
                   load<16>(group_address(column, i % kGroups)));
    }
  }

 private:
  static unsigned char* group_address(int column, int group) {
    const int place = (column * kGroups + group) ^ column / kQuantiserElements % kLine;
    return shared_memory() + place * kKeyGroup;
  }

  /// Of four keys with four columns each, four columns with four keys each.
  static void store_words(int column, const unsigned (&keys)[4]) {
    const unsigned low[2] = {byte_permute(keys[0], keys[1], 0x5140),
                             byte_permute(keys[2], keys[3], 0x5140)};
    const unsigned high[2] = {byte_permute(keys[0], keys[1], 0x7362),
                              byte_permute(keys[2], keys[3], 0x7362)};
    const unsigned words[4] = {
        byte_permute(low[0], low[1], 0x5410), byte_permute(low[0], low[1], 0x7632),
        byte_permute(high[0], high[1], 0x5410), byte_permute(high[0], high[1], 0x7632)};
    const int word = Tile::key_word();
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      store<4>(group_address(column + j, word / 4) + word % 4 * 4, Bytes<4>{words[j]});
    }
  }

  unsigned packed_[2][4];  ///< four columns of each key
};

}  // namespace heddle
