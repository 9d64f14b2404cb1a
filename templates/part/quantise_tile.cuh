#pragma once
// A tile of the quantiser: 128 rows of a head in the registers of a block. Each thread has eight
// neighbouring columns of every 32nd row, so that a row lies in neighbouring lanes.

#include "instruction/math.cuh"
#include "instruction/memory.cuh"
#include "instruction/thread.cuh"
#include "instruction/types.cuh"
#include "part/reduce_lanes.cuh"
#include "quantise_parameters.cuh"
#include "quantiser_layout.cuh"

namespace heddle {

/// Eight neighbouring numbers of a row.
using QuantiserNumbers = float[kQuantiserElements];

template <class Config>
class QuantiseTile {
 public:
  static constexpr int kRows = kQuantiserRowsPerThread;
  static constexpr int kElements = kQuantiserElements;
  static constexpr int kLanes = quantiser_row_lanes(Config::kHeadDim);
  static constexpr int kRowStep = Config::kThreads / kLanes;
  static_assert(Config::kThreads == quantiser_threads(Config::kHeadDim),
                "the host's threads are not the kernel's");

  /// Asks for all of the tile at once: nothing waits before the first number is used.
  explicit QuantiseTile(const QuantiseParameters& parameters)
      : head_(block_index() / parameters.tiles),
        tile_(block_index() % parameters.tiles),
        rows_(parameters.rows) {
    const TensorView& input = parameters.input;
    const auto* first = static_cast<const typename Config::Element*>(input.data) +
                        head_ / parameters.heads * input.batch_stride +
                        head_ % parameters.heads * input.head_stride + first_column();
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      loaded_[i] = load_or_zero<16>(first + row(i) * input.row_stride, exists(i));
    }
  }

  int flat_head() const {
    return head_;
  }
  int tile() const {
    return tile_;
  }
  static int first_column() {
    return thread_index() % kLanes * kElements;
  }
  static bool has_columns() {
    return first_column() < Config::kHeadDim;
  }
  /// Row `i` of this thread, counted within the tile or within the head.
  static int tile_row(int i) {
    return thread_index() / kLanes + i * kRowStep;
  }
  int row(int i) const {
    return tile_ * kQuantiserRows + tile_row(i);
  }
  bool exists(int i) const {
    return row(i) < rows_ && has_columns();
  }

  /// Row `i` as it was; zeros where the head has no row, or the row no column.
  void read(int i, QuantiserNumbers& numbers) const {
#pragma unroll
    for (int j = 0; j < kElements; j += 2) {
      unpack<typename Config::Element>(loaded_[i].value[j / 2], numbers[j], numbers[j + 1]);
    }
  }

  /// This thread's of `columns`; untouched where it has none.
  static void load_columns(QuantiserNumbers& to, const float* columns) {
    if (!has_columns()) return;
#pragma unroll
    for (int j = 0; j < kElements; j += 4) {
      const Bytes<16> loaded = load<16>(columns + first_column() + j);
#pragma unroll
      for (int k = 0; k < 4; ++k) to[j + k] = __uint_as_float(loaded.value[k]);
    }
  }

 private:
  int head_;  ///< of all sequences
  int tile_;
  int rows_;
  Bytes<16> loaded_[kRows];
};

/// What is done to a row before it is rounded: the means off, then signs and the Hadamard transform
/// of each kTogether columns, in butterflies, first among a thread's own columns, then with those
/// of its neighbours.
template <class Config>
class RowPreparation {
  using Tile = QuantiseTile<Config>;
  static constexpr int kTogether = rotation_columns(Config::kHeadDim);

 public:
  RowPreparation(const QuantiseParameters& parameters, const Tile& tile) {
    if constexpr (Config::kSubtractMean) {
      tile.load_columns(
          means_, parameters.means + static_cast<long long>(tile.flat_head()) * Config::kHeadDim);
    }
    if constexpr (Config::kRotate) {
#pragma unroll
      for (int j = 0; j < Tile::kElements; ++j) {
        const bool negates = rotation_negates(parameters.seed, tile.first_column() + j);
        signs_ |= (negates ? 1u : 0u) << j;
      }
    }
  }

  void apply(const Tile& tile, int i, QuantiserNumbers& numbers) const {
    tile.read(i, numbers);
    if constexpr (Config::kSubtractMean) {
#pragma unroll
      for (int j = 0; j < Tile::kElements; ++j) {
        if (tile.exists(i)) numbers[j] -= means_[j];
      }
    }
    if constexpr (Config::kRotate) {
#pragma unroll
      for (int j = 0; j < Tile::kElements; ++j) {
        const unsigned sign = signs_ << (31 - j) & 0x80000000u;
        numbers[j] =
            __uint_as_float(__float_as_uint(numbers[j]) ^ sign) * rotation_factor(kTogether);
      }
      mix_own(numbers);
#pragma unroll
      for (int mask = 1; mask < kTogether / Tile::kElements; mask *= 2) mix_lanes(numbers, mask);
    }
  }

 private:
  static void mix_own(QuantiserNumbers& numbers) {
#pragma unroll
    for (int step = 1; step < Tile::kElements; step *= 2) {
#pragma unroll
      for (int j = 0; j < Tile::kElements; ++j) {
        if ((j & step) != 0) continue;
        const float left = numbers[j];
        const float right = numbers[j + step];
        numbers[j] = left + right;
        numbers[j + step] = left - right;
      }
    }
  }

  static void mix_lanes(QuantiserNumbers& numbers, int mask) {
    const bool is_right = (lane() & mask) != 0;
#pragma unroll
    for (float& number : numbers) {
      const float other = shuffle_xor(number, mask);
      number = is_right ? other - number : number + other;
    }
  }

  QuantiserNumbers means_ = {};
  unsigned signs_ = 0;  ///< bit j: column j changes its sign; a register less than a factor each
};

/// The largest finite magnitude.
inline float largest_magnitude(const QuantiserNumbers& numbers) {
  float largest = 0.0f;
#pragma unroll
  for (const float number : numbers) {
    if (is_finite(number)) largest = maximum(largest, magnitude(number));
  }
  return largest;
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
