#pragma once
// A tile of the quantiser: some rows of a head in the registers of a block, 16 bytes a load. Which
// of them a thread has, quantiser_layout.cuh says.

#include "instruction/math.cuh"
#include "instruction/memory.cuh"
#include "instruction/thread.cuh"
#include "instruction/types.cuh"
#include "part/reduce_lanes.cuh"
#include "quantise_parameters.cuh"
#include "quantiser_layout.cuh"
#include "wgmma_fragment.cuh"

namespace heddle {

/// Eight neighbouring numbers of a row.
using QuantiserNumbers = float[kQuantiserElements];

template <class Config>
class QuantiseTile {
  static constexpr QuantiserLayout kLayout = quantiser_layout(Config::kHeadDim, Config::kRotate);
  // Of a tile that leaves transposed a warp has eight lanes of a row, and four words of keys: so
  // its lanes meet all banks of shared memory.
  static constexpr int kWarpLanes = kLayout.lanes < 8 ? kLayout.lanes : 8;
  static constexpr int kColumnWarps = kLayout.lanes / kWarpLanes;
  static constexpr int kWarpWords = kWarpSize / kWarpLanes;

 public:
  static constexpr int kChunks = kLayout.chunks;
  static constexpr int kLanes = kLayout.lanes;
  static constexpr int kRowStep = Config::kThreads / kLanes;
  /// Of which a thread has its columns.
  static constexpr int kRows = Config::kTileRows / kRowStep;
  static_assert(Config::kThreads == kRowStep * kLanes && Config::kTileRows == kRowStep * kRows,
                "the host's threads are not the kernel's");

  /// A thread's numbers of a row.
  using Numbers = QuantiserNumbers[kChunks];

  /// Asks for all of the tile at once: nothing waits before the first number is used.
  QuantiseTile(const QuantiseParameters& parameters, int block)
      : head_(parameters.by_tiles.divide(block)),
        tile_(block - head_ * parameters.tiles),
        sequence_(parameters.by_heads.divide(head_)),
        head_of_sequence_(head_ - sequence_ * parameters.heads),
        rows_(parameters.rows) {
    const TensorView& input = parameters.input;
    const auto* first = head_in<const typename Config::Element>(input) + first_column();
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
#pragma unroll
      for (int chunk = 0; chunk < kChunks; ++chunk) {
        loaded_[i][chunk] = load_or_zero<16>(
            first + row(i) * input.row_stride + chunk * kQuantiserChunk, exists(i));
      }
    }
  }

  /// Of all sequences.
  int flat_head() const {
    return head_;
  }
  int sequence() const {
    return sequence_;
  }
  int head() const {
    return head_of_sequence_;
  }
  /// Where the head begins.
  template <class Element>
  Element* head_in(const TensorView& tensor) const {
    return static_cast<Element*>(tensor.data) + sequence_ * tensor.batch_stride +
           head_of_sequence_ * tensor.head_stride;
  }
  int tile() const {
    return tile_;
  }
  /// Of this thread's first chunk; the others follow by kQuantiserChunk.
  static int first_column() {
    if constexpr (Config::kTransposedValues) {
      return (lane() % kWarpLanes + warp() % kColumnWarps * kWarpLanes) * kQuantiserElements;
    }
    return static_cast<int>(thread() % kLanes) * kQuantiserElements;
  }
  static bool has_columns() {
    return first_column() < Config::kHeadDim;
  }
  /// Row `i` of this thread, counted within the tile or within the head.
  static int tile_row(int i) {
    if constexpr (Config::kTransposedValues) return wgmma_8bit_key(4 * key_word() + i);
    return static_cast<int>(thread() / kLanes) + i * kRowStep;
  }
  /// The four keys of a thread whose tile leaves transposed are a word of a column.
  static int key_word() {
    return warp() / kColumnWarps * kWarpWords + lane() / kWarpLanes;
  }
  int row(int i) const {
    return tile_ * Config::kTileRows + tile_row(i);
  }
  bool exists(int i) const {
    return row(i) < rows_ && has_columns();
  }

  const Bytes<16>& loaded(int i, int chunk) const {
    return loaded_[i][chunk];
  }
  /// Row `i` as it was; zeros where the head has no row, or the row no column.
  void read(int i, int chunk, QuantiserNumbers& numbers) const {
#pragma unroll
    for (int j = 0; j < kQuantiserElements; j += 2) {
      unpack<typename Config::Element>(loaded_[i][chunk].value[j / 2], numbers[j], numbers[j + 1]);
    }
  }

  /// This thread's of `columns`; untouched where it has none.
  static void load_columns(QuantiserNumbers& to, const float* columns, int chunk) {
    if (!has_columns()) return;
#pragma unroll
    for (int j = 0; j < kQuantiserElements; j += 4) {
      const Bytes<16> loaded = load<16>(columns + first_column() + chunk * kQuantiserChunk + j);
#pragma unroll
      for (int k = 0; k < 4; ++k) to[j + k] = __uint_as_float(loaded.value[k]);
    }
  }

 private:
  // Divided without a sign: shifts.
  static unsigned thread() {
    return static_cast<unsigned>(thread_index());
  }

  int head_;  ///< of all sequences
  int tile_;
  int sequence_;
  int head_of_sequence_;
  int rows_;
  Bytes<16> loaded_[kRows][kChunks];
};

/// The largest finite magnitude.
template <int kChunks>
inline float largest_magnitude(const QuantiserNumbers (&numbers)[kChunks]) {
  const auto largest_of = [&](auto counts) {
    float largest = 0.0f;
#pragma unroll
    for (int chunk = 0; chunk < kChunks; ++chunk) {
#pragma unroll
      for (int j = 0; j < kQuantiserElements; ++j) {
        const float number = numbers[chunk][j];
        if (counts(number)) largest = maximum(largest, magnitude(number));
      }
    }
    return largest;
  };
  const float largest = largest_of([](float) { return true; });  // of NaN and a number: the number
  if (is_finite(largest)) return largest;
  return largest_of([](float number) { return is_finite(number); });
}

/// The largest of a value over the block, in all threads. Uses the first words of shared memory.
template <class Config>
inline float block_maximum(float value) {
  constexpr int kWarps = Config::kThreads / kWarpSize;
  auto* parts = reinterpret_cast<float*>(shared_memory());
  value = lane_maximum<kWarpSize>(value);
  if (lane() == 0) parts[warp()] = value;
  sync_block();
  value = parts[0];
#pragma unroll
  for (int i = 1; i < kWarps; ++i) value = maximum(value, parts[i]);
  sync_block();  // the words may be used again
  return value;
}

}  // namespace heddle
