#pragma once
// A row whose columns lie across a warp, as loops over global memory leave it.

#include "instruction/thread.cuh"
#include "layout.cuh"
#include "part/fragment.cuh"

namespace heddle {

/// Each lane has the columns lane() + 32 c of the head.
template <class Config>
struct LaneRow {
  static constexpr int kColumns = ceil_divide(Config::kHeadDim, kWarpSize);

  float entry[kColumns];

  /// Takes entry_of(c, column) for each of this lane's entries.
  template <class EntryOf>
  void fill(EntryOf entry_of) {
#pragma unroll
    for (int c = 0; c < kColumns; ++c) {
      const int column = lane() + c * kWarpSize;
      entry[c] = column < Config::kHeadDim ? entry_of(c, column) : 0.0f;
    }
  }

  template <class Visit>
  void for_each(Visit visit) const {
#pragma unroll
    for (int c = 0; c < kColumns; ++c) {
      const int column = lane() + c * kWarpSize;
      if (column < Config::kHeadDim) visit(column, entry[c]);
    }
  }

  /// Adds the row to one of a warp's 16 rows, or takes its place. Its own entries are used up.
  template <int kColumnTiles>
  void move_to(Accumulator<1, kColumnTiles>& rows, int row, bool replaces) {
    const bool is_own = lane() / 4 == row % 8;
    const int half = row / 8;
#pragma unroll 1
    for (int c = 0; c < kColumnTiles; ++c) {
      const float(&first)[4] = rows.value[0][0];
      float moved[4] = {first[0], first[1], first[2], first[3]};
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float added = shuffle(entry[0], 8 * (c % 4) + 2 * (lane() % 4) + i % 2);
        if (is_own && i / 2 == half) moved[i] = replaces ? added : moved[i] + added;
      }
      rotate_columns(rows, moved);
      if (c % 4 == 3) drop_first();
    }
  }

 private:
  void drop_first() {
#pragma unroll
    for (int c = 1; c < kColumns; ++c) entry[c - 1] = entry[c];
  }
};

}  // namespace heddle
