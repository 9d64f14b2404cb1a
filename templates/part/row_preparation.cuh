#pragma once
// What is done to a row of the quantiser's tile before it is rounded.

#include "part/quantise_tile.cuh"

namespace heddle {

/// Random signs, and the Hadamard transform of each kTogether columns, but for its factor. Tensor
/// cores do four of its butterflies, all that need other lanes among them: along bits 0, 2, 3 and 4
/// of a column's number in its chunk. A product's first matrix are the elements as they were
/// loaded: eight rows twice, with those columns that have bit 1 and those that have not. Its second
/// is the transform itself; so ordered, its results are again eight neighbouring columns a lane.
/// Bit 1 and the chunks are the lane's own. Elements and ones multiply exactly.
template <class Config>
class Rotation {
  using Tile = QuantiseTile<Config>;
  using Element = typename Config::Element;
  static constexpr int kTogether = rotation_columns(Config::kHeadDim);
  static constexpr int kHalves = 2;  ///< eight columns of the transform each: by their bit 2
  static_assert(Tile::kLanes == 4, "a product's rows lie in four lanes");

 public:
  explicit Rotation(const QuantiseParameters& parameters) {
    const int group = lane() % Tile::kLanes;  // bits 3 and 4 of its columns
#pragma unroll
    for (int chunk = 0; chunk < Tile::kChunks; ++chunk) {
      signs_[chunk] = parameters.signs[chunk] << 4 * group;
    }
    const int column = lane() / Tile::kLanes;  // of the transform: bits 0, 3 and 4 of a result
    const int common = group & column / 2;
    const int odd = (common ^ common / 2) & 1;
#pragma unroll
    for (int half = 0; half < kHalves; ++half) {
#pragma unroll
      for (int bit = 0; bit < 2; ++bit) {
        const int negative = odd ^ (half & bit);
        transform_[half][bit] =
            one() ^ (negative != 0 ? 0x80008000u : 0u) ^ (column % 2 != 0 ? 0x80000000u : 0u);
      }
    }
  }

  void apply(const Tile& tile, int i, typename Tile::Numbers& numbers) const {
#pragma unroll
    for (int chunk = 0; chunk < Tile::kChunks; ++chunk) multiply(tile, i, chunk, numbers[chunk]);
#pragma unroll
    for (int step = 1; step < kTogether / kQuantiserChunk; step *= 2) {
#pragma unroll
      for (int chunk = 0; chunk < Tile::kChunks; ++chunk) {
        if ((chunk & step) != 0) continue;
#pragma unroll
        for (int j = 0; j < kQuantiserElements; ++j) {
          mix(numbers[chunk][j], numbers[chunk + step][j]);
        }
      }
    }
  }

 private:
  /// Two ones.
  static unsigned one() {
    return pack(1.0f, 1.0f, Element{});
  }
  static void mix(float& left, float& right) {
    const float sum = left + right;
    right = left - right;
    left = sum;
  }

  void multiply(const Tile& tile, int i, int chunk, QuantiserNumbers& numbers) const {
    const Bytes<16>& loaded = tile.loaded(i, chunk);
    unsigned pairs[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) pairs[j] = loaded.value[j] ^ (signs_[chunk] << j & 0x80008000u);
#pragma unroll
    for (int half = 0; half < kHalves; ++half) {
      float results[4] = {};
      mma_m16n8k16(results, pairs, transform_[half], Element{});
      mix(results[0], results[2]);
      mix(results[1], results[3]);
#pragma unroll
      for (int j = 0; j < 4; ++j) numbers[4 * half + j] = results[j];
    }
  }

  unsigned signs_[Tile::kChunks];
  unsigned transform_[kHalves][2];
};

/// The means off, then the rotation; where both are asked for, the rotated means off rotated rows:
/// the elements are still as products take them.
template <class Config>
class RowPreparation {
  using Tile = QuantiseTile<Config>;
  struct NoRotation {
    explicit NoRotation(const QuantiseParameters&) {}
    static void apply(const Tile& tile, int i, typename Tile::Numbers& numbers) {
#pragma unroll
      for (int chunk = 0; chunk < Tile::kChunks; ++chunk) tile.read(i, chunk, numbers[chunk]);
    }
  };

  template <bool kRotate, class = void>
  struct RotationOf {
    using Type = NoRotation;
  };
  template <class Unused>
  struct RotationOf<true, Unused> {
    using Type = Rotation<Config>;
  };

 public:
  /// What prepared numbers are to be multiplied by yet.
  static constexpr float kFactor =
      Config::kRotate ? rotation_factor(rotation_columns(Config::kHeadDim)) : 1.0f;

  RowPreparation(const QuantiseParameters& parameters, const Tile& tile)
      : rotation_(parameters),
        means_((Config::kRotate ? parameters.rotated_means : parameters.means) +
               static_cast<long long>(tile.flat_head()) * Config::kHeadDim) {}

  void apply(const Tile& tile, int i, typename Tile::Numbers& numbers) const {
    rotation_.apply(tile, i, numbers);
    if constexpr (Config::kSubtractMean) {
      if (!tile.exists(i)) return;
#pragma unroll
      for (int chunk = 0; chunk < Tile::kChunks; ++chunk) {
        QuantiserNumbers means;
        tile.load_columns(means, means_, chunk);
#pragma unroll
        for (int j = 0; j < kQuantiserElements; ++j) numbers[chunk][j] -= means[j];
      }
    }
  }

 private:
  typename RotationOf<Config::kRotate>::Type rotation_;
  const float* means_;  ///< of the head
};

}  // namespace heddle
