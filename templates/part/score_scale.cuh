#pragma once
// What a thread's scores are multiplied by to be logits in log2 units: the launch's scale, and the
// factors of 8-bit inputs.

#include "part/descale.cuh"
#include "part/fragment.cuh"

namespace heddle {

/// Where rows of Q have factors of their own.
struct RowScales {
  float value[2];
};

inline float scale_at(float scale, int /*row*/) {
  return scale;
}
inline float scale_at(const RowScales& scales, int row) {
  return scales.value[row];
}

/// Of a thread's two rows. Factors are positive, so that the largest score stays the largest.
template <class Config>
class ScoreScale {
  static constexpr bool kByKeys = Config::kScaleRows == 1;
  static constexpr bool kByBlocks = Config::kScaleRows > 1;
  /// Packed rows are of several heads.
  static constexpr bool kByRows =
      kByKeys || kByBlocks || (Config::kScalePerHead && Config::kPackGqa);

 public:
  /// Once a tile. `place(row)` says where a row is, and whether it exists.
  template <class Place>
  void begin(const AttentionParameters& parameters, int batch, int kv_head, Place place) {
    if constexpr (!Config::kScaledInputs) return;
    batch_ = batch;
    kv_head_ = kv_head;
#pragma unroll
    for (int row = 0; row < kRows; ++row) {
      const auto at = place(row);
      const float factor =
          at.exists ? query_descale<Config>(parameters, batch, at.head, at.query) : 1.0f;
      rows_[row] = parameters.scale_log2 * factor;
      if constexpr (!kByKeys && !kByBlocks) {
        rows_[row] *= key_descale<Config>(parameters, batch, kv_head, 0);
      }
    }
  }

  /// Once a block, before its scores are there.
  void begin_block(const AttentionParameters& parameters, int first_key) {
    if constexpr (kByBlocks) {
      key_ = key_descale<Config>(parameters, batch_, kv_head_, first_key);
    }
  }

  /// Multiplies scores by what `at` leaves out.
  template <int kColumnTiles>
  void apply(const AttentionParameters& parameters, Accumulator<1, kColumnTiles>& scores,
             int first_key) const {
    if constexpr (!kByKeys) return;
#pragma unroll
    for (int i = 0; i < 2 * kColumnTiles; ++i) {
      const int key = first_key + 8 * (i / 2) + 2 * (lane() % 4) + i % 2;
      const int last = parameters.seqlen_kv - 1;  // no score beyond it is seen
      const float factor =
          key_descale<Config>(parameters, batch_, kv_head_, key < last ? key : last);
      scores.value[0][i / 2][i % 2] *= factor;
      scores.value[0][i / 2][2 + i % 2] *= factor;
    }
  }

  auto at(const AttentionParameters& parameters) const {
    if constexpr (!Config::kScaledInputs) {
      return parameters.scale_log2;
    } else if constexpr (!kByRows) {
      return rows_[0];
    } else {
      const float key = kByBlocks ? key_ : 1.0f;
      return RowScales{{rows_[0] * key, rows_[1] * key}};
    }
  }

 private:
  static constexpr int kRows = kByRows ? 2 : 1;

  float rows_[kRows];
  float key_;  ///< of the block
  int batch_;
  int kv_head_;
};

}  // namespace heddle
