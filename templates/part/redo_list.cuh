#pragma once
// Tiles that NaN or Inf among values have spoilt, for a block to work on once more.
//
// A probability of 0 times such a value is NaN, so a key that a row may not see would spoil it. To
// look at every masked value block before it is multiplied takes shared memory's time from the
// products. So tiles are multiplied as they come, and their outputs are looked at: only where one
// is spoilt does the guard look at values from then on (part/value_guard.cuh), and the block ends
// with the tiles that had been spoilt by then.

#include "instruction/math.cuh"
#include "instruction/mbarrier.cuh"
#include "instruction/memory.cuh"
#include "instruction/thread.cuh"
#include "part/fragment.cuh"
#include "part/scheduler.cuh"

namespace heddle {

/// Of a block whose tile queue has kQueueSlots slots. What the loading role alone needs is here
/// too: it has no registers to spare.
template <int kQueueSlots>
struct alignas(16) RedoList {
  /// Tiles that are loaded before it is known of one whether it is spoilt: those in the queue, one
  /// that waits for a slot there, and that one.
  static constexpr int kTiles = kQueueSlots + 2;
  static constexpr int kGuarded = -1;
  static constexpr int kMaxWarps = 16;

  unsigned char spoilt[kTiles][kMaxWarps];  ///< as each consumer warp found it
  Barrier
      looked_at;  ///< each consumer warp arrives once, after the last tile that the queue brings
  WorkItem items[kTiles];
  int entry[kQueueSlots];  ///< of these that a queue slot's tile is, or kGuarded
  int loading;             ///< that of the tile that is loaded now
  int done;                ///< tiles before it have been done again

  /// One thread of the block.
  void init(int consumer_warps) {
    heddle::init(looked_at, consumer_warps);
    for (auto& warps : spoilt) store<kMaxWarps>(warps, Bytes<kMaxWarps>{});
    loading = 0;
    done = 0;
  }

  /// Whether a tile is to be done again, once all of them have been looked at.
  bool needs_another_round() {
    wait(looked_at, 0);
    bool any = false;
#pragma unroll
    for (int tile = 0; tile < kTiles; ++tile) any = any || is_spoilt(tile);
    return any;
  }

  bool is_guarded() const {
    return loading == kGuarded;
  }

  /// The loading role goes on to a tile. What was found of the one that had its entry before has
  /// been told: its queue slot was free for one loaded since.
  void enter(const WorkItem& item) {
    if (is_guarded()) return;
    const int next = loading + 1 == kTiles ? 0 : loading + 1;
    loading = is_spoilt(next) ? kGuarded : next;
    if (!is_guarded()) items[next] = item;
  }

  /// Once all tiles are done: the next one of those to be done again, guarded.
  bool next_again(WorkItem& item) {
    loading = kGuarded;
#pragma unroll 1
    while (done < kTiles) {
      const int tile = done++;
      if (!is_spoilt(tile)) continue;
      item = items[tile];
      return true;
    }
    return false;
  }

 private:
  bool is_spoilt(int tile) const {
    const auto warps = load<kMaxWarps>(spoilt[tile]);
    return (warps.value[0] | warps.value[1] | warps.value[2] | warps.value[3]) != 0;
  }
};

/// A consumer warp's look at its output, before it is stored. One row of each thread tells: what
/// spoils a column does so in every row that is multiplied with it.
template <int kColumnTiles>
inline bool is_spoilt(const Accumulator<1, kColumnTiles>& output) {
  constexpr int kChains = 4;
  float zero[kChains] = {};
#pragma unroll
  for (int i = 0; i < 2 * kColumnTiles; ++i) {
    zero[i % kChains] = multiply_add(output.value[0][i / 2][i % 2], 0.0f, zero[i % kChains]);
  }
  return warp_any((zero[0] + zero[1]) + (zero[2] + zero[3]) != 0.0f);
}

}  // namespace heddle
