#pragma once
// How the role that loads queries tells the other roles of a block which query tile comes next.

#include "part/barrier_ring.cuh"
#include "part/scheduler.cuh"

namespace heddle {

/// A ring of query tiles. A slot is full once the tile's number is written and its rows of Q, if
/// it needs them, have landed; empty once nobody reads either.
template <int kSlots>
struct TileQueue {
  static constexpr int kEnd = -1;

  BarrierRing<kSlots> ring;
  WorkItem items[kSlots];
};

/// A role's way through the queue.
template <int kSlots>
class TileReader {
  static_assert(kSlots == 1 || kSlots == 2, "the slot left is told from the count of slots");

 public:
  explicit TileReader(TileQueue<kSlots>& queue) : queue_(queue) {}

  /// Waits for the next tile; false if there is none.
  bool next(WorkItem& item) {
    wait_full(queue_.ring, place_);
    item = queue_.items[place_.slot()];
    return item.query_tile != TileQueue<kSlots>::kEnd;
  }
  int slot() const { return place_.slot(); }
  /// The tile of this slot once more.
  WorkItem item() const { return queue_.items[place_.slot()]; }
  RingPlace<kSlots> place() const { return place_; }

  /// Goes on to the next slot. Whoever needs neither number nor rows of the one left says so by
  /// release(), with all lanes of each warp.
  void advance() { place_.next(); }
  void release() {
    sync_warp();
    if (lane() == 0) arrive(queue_.ring.empty[place_.left()]);
  }

 private:
  TileQueue<kSlots>& queue_;
  RingPlace<kSlots> place_;
};

}  // namespace heddle
