#pragma once
// A tile of the quantiser: 128 rows of a head in the registers of a block, in fp32. Each thread has
// eight neighbouring columns of every 16th row, so that a row lies in neighbouring lanes.

#include "instruction/math.cuh"
#include "instruction/memory.cuh"
#include "instruction/thread.cuh"
#include "instruction/types.cuh"
#include "part/reduce_lanes.cuh"
#include "quantise_parameters.cuh"
#include "quantiser_layout.cuh"

namespace heddle {

template <class Config>
class QuantiseTile {
 public:
  static constexpr int kRows = kQuantiserRowsPerThread;
  static constexpr int kElements = kQuantiserElements;
  static constexpr int kLanes = quantiser_row_lanes(Config::kHeadDim);
  static constexpr int kRowStep = Config::kThreads / kLanes;
  static_assert(Config::kThreads == quantiser_threads(Config::kHeadDim),
                "the host's threads are not the kernel's");

  explicit QuantiseTile(const QuantiseParameters& parameters)
      : head_(block_index() / parameters.tiles),
        tile_(block_index() % parameters.tiles),
        rows_(parameters.rows) {}

  int flat_head() const { return head_; }
  int tile() const { return tile_; }
  static int first_column() { return thread_index() % kLanes * kElements; }
  static bool has_columns() { return first_column() < Config::kHeadDim; }
  /// Row `i` of this thread, counted within the tile or within the head.
  static int tile_row(int i) { return thread_index() / kLanes + i * kRowStep; }
  int row(int i) const { return tile_ * kQuantiserRows + tile_row(i); }
  bool exists(int i) const { return row(i) < rows_ && has_columns(); }

  float (&operator[](int i))[kElements] { return numbers_[i]; }

  /// Zeros where the head has no row, or the row no column. All loads are under way before the
  /// first is used.
  void load(const QuantiseParameters& parameters) {
    const TensorView& input = parameters.input;
    const auto* first = static_cast<const typename Config::Element*>(input.data) +
                        head_ / parameters.heads * input.batch_stride +
                        head_ % parameters.heads * input.head_stride + first_column();
    Bytes<16> loaded[kRows];
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      loaded[i] = load_or_zero<16>(first + row(i) * input.row_stride, exists(i));
    }
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
#pragma unroll
      for (int j = 0; j < kElements; j += 2) {
        unpack<typename Config::Element>(loaded[i].value[j / 2], numbers_[i][j],
                                         numbers_[i][j + 1]);
      }
    }
  }

  void subtract(const float* means) {
    float mean[kElements] = {};
    load_columns(mean, means);
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      if (!exists(i)) continue;
#pragma unroll
      for (int j = 0; j < kElements; ++j) numbers_[i][j] -= mean[j];
    }
  }

  /// Signs and the Hadamard transform of each kTogether columns: butterflies, first among a
  /// thread's own columns, then with those of its neighbours.
  void rotate(unsigned seed) {
    constexpr int kTogether = rotation_columns(Config::kHeadDim);
    float factors[kElements];
    constexpr float kFactor = rotation_factor(kTogether);
#pragma unroll
    for (int j = 0; j < kElements; ++j) {
      factors[j] = rotation_negates(seed, first_column() + j) ? -kFactor : kFactor;
    }
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
#pragma unroll
      for (int j = 0; j < kElements; ++j) numbers_[i][j] *= factors[j];
      mix_own(numbers_[i]);
#pragma unroll
      for (int mask = 1; mask < kTogether / kElements; mask *= 2) mix_lanes(numbers_[i], mask);
    }
  }

  /// The largest finite magnitude of row `i`, in all its lanes.
  float row_magnitude(int i) const {
    float largest = 0.0f;
#pragma unroll
    for (int j = 0; j < kElements; ++j) {
      const float number = numbers_[i][j];
      if (is_finite(number)) largest = maximum(largest, magnitude(number));
    }
    return lane_maximum<kLanes>(largest);
  }

  /// The row times other columns, summed, in all its lanes.
  float dot(int i, const float (&columns)[kElements]) const {
    float sum = 0.0f;
#pragma unroll
    for (int j = 0; j < kElements; ++j) sum = multiply_add(numbers_[i][j], columns[j], sum);
    return lane_sum<kLanes>(sum);
  }

  /// This thread's of `columns`; untouched where it has none.
  static void load_columns(float (&to)[kElements], const float* columns) {
    if (!has_columns()) return;
#pragma unroll
    for (int j = 0; j < kElements; j += 4) {
      const Bytes<16> loaded = heddle::load<16>(columns + first_column() + j);
#pragma unroll
      for (int k = 0; k < 4; ++k) to[j + k] = __uint_as_float(loaded.value[k]);
    }
  }

 private:
  static void mix_own(float (&numbers)[kElements]) {
#pragma unroll
    for (int step = 1; step < kElements; step *= 2) {
#pragma unroll
      for (int j = 0; j < kElements; ++j) {
        if ((j & step) != 0) continue;
        const float left = numbers[j];
        const float right = numbers[j + step];
        numbers[j] = left + right;
        numbers[j + step] = left - right;
      }
    }
  }

  static void mix_lanes(float (&numbers)[kElements], int mask) {
    const bool is_right = (lane() & mask) != 0;
#pragma unroll
    for (float& number : numbers) {
      const float other = shuffle_xor(number, mask);
      number = is_right ? other - number : number + other;
    }
  }

  int head_;  ///< of all sequences
  int tile_;
  int rows_;
  float numbers_[kRows][kElements];
};

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

/// Makes of a loaded tile what will be rounded.
template <class Config>
inline void prepare(QuantiseTile<Config>& tile, const QuantiseParameters& parameters) {
  if constexpr (Config::kSubtractMean) {
    tile.subtract(parameters.means + static_cast<long long>(tile.flat_head()) * Config::kHeadDim);
  }
  if constexpr (Config::kRotate) tile.rotate(parameters.seed);
}

}  // namespace heddle
