#pragma once
// Who sees whom, and the user's hooks on logits.

#include "instruction/math.cuh"
#include "parameters.cuh"
#include "part/fragment.cuh"
#include "part/packed_rows.cuh"
#include "part/scheduler.cuh"
#include "part/sequence_info.cuh"

namespace heddle {

/// Config::visible and Config::score are called only if Config::kMaskHook and Config::kScoreHook
/// say that they differ from the identity: a kernel without them pays nothing.
template <class Config>
struct Mask {
  const SequenceInfo& sequence;
  const WorkItem& item;

  /// `head` counts from the item's.
  bool visible(int query, int key, int head = 0) const {
    return key < seen_keys(query) && hook_shows(query, key, head);
  }

  /// Entries that may not be seen become -inf. `first_row` (part/packed_rows.cuh) and `first_key`
  /// are the fragment's.
  template <int kRowTiles, int kColumnTiles, class Row>
  void apply(Accumulator<kRowTiles, kColumnTiles>& scores, const Row& first_row,
             int first_key) const {
    const int lane_key = first_key + 2 * (lane() % 4);
#pragma unroll
    for (int row = 0; row < 2 * kRowTiles; ++row) {
      const int query = query_at(first_row, fragment_row(row));
      const int head = head_at(first_row, fragment_row(row));
      const int seen = seen_keys(query) - lane_key;
#pragma unroll
      for (int i = 0; i < 2 * kColumnTiles; ++i) {
        const int column = 8 * (i / 2) + i % 2;
        float& score = scores.value[row / 2][i / 2][2 * (row % 2) + i % 2];
        if (column >= seen || !hook_shows(query, lane_key + column, head)) score = -infinity();
      }
    }
  }

  /// Runs the score hook, which sees and returns logits (scale * q·k); scores stay unscaled.
  template <int kRowTiles, int kColumnTiles, class Row>
  void apply_score_hook(Accumulator<kRowTiles, kColumnTiles>& scores, float scale,
                        const Row& first_row, int first_key) const {
    if constexpr (Config::kScoreHook) {
      const float inverse_scale = 1.0f / scale;
      scores.for_each([&](int, int row, int column, float& score) {
        const ScorePosition where =
            position(query_at(first_row, row), first_key + column, head_at(first_row, row));
        score = Config::score(score * scale, where) * inverse_scale;
      });
    }
  }

  /// The same of one score.
  double hooked_score(double score, double scale, int query, int key, int head) const {
    if constexpr (Config::kScoreHook) {
      const auto logit = static_cast<float>(score * scale);
      return static_cast<double>(Config::score(logit, position(query, key, head))) / scale;
    } else {
      return score;
    }
  }

 private:
  /// The keys a row sees, hook aside, are the first ones.
  int seen_keys(int query) const {
    return Config::kCausal ? sequence.causal_keys(query) : sequence.key_length;
  }

  bool hook_shows(int query, int key, int head) const {
    if constexpr (Config::kMaskHook) {
      return Config::visible(position(query, key, head));
    } else {
      return true;
    }
  }

  ScorePosition position(int query, int key, int head) const {
    return ScorePosition{item.batch, item.head + head, query, key};
  }
};

}  // namespace heddle
