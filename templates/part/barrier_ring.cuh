#pragma once
// Rings of shared-memory slots that a warp fills by TMA and warpgroups empty.

#include "instruction/elect.cuh"
#include "instruction/mbarrier.cuh"

namespace heddle {

/// Two barriers for each slot. `full` completes with the bytes that were asked for, `empty` once
/// every consumer warp has read them.
template <int kSlots>
struct BarrierRing {
  Barrier full[kSlots];
  Barrier empty[kSlots];

  /// One thread of the block.
  void init(int consumer_warps) {
    for (int slot = 0; slot < kSlots; ++slot) {
      heddle::init(full[slot], 1);
      heddle::init(empty[slot], consumer_warps);
    }
  }
};

/// Where a producer or a consumer is in its ring: the slot, and the parity of the slot's phase. Of
/// slots whose number is a power of two one count says both.
template <int kSlots, bool kPowerOfTwo = (kSlots & (kSlots - 1)) == 0>
class RingPlace {
 public:
  int slot() const { return static_cast<int>(count_ % kSlots); }
  unsigned parity() const { return count_ / kSlots % 2; }
  void next() { ++count_; }
  /// So many slots at once.
  void skip(int slots) { count_ += static_cast<unsigned>(slots); }
  /// The slot before this one.
  int left() const { return static_cast<int>((count_ - 1) % kSlots); }

 private:
  unsigned count_ = 0;
};

template <int kSlots>
class RingPlace<kSlots, false> {
 public:
  int slot() const { return slot_; }
  unsigned parity() const { return parity_; }

  void next() {
    if (++slot_ == kSlots) {
      slot_ = 0;
      parity_ ^= 1u;
    }
  }
  void skip(int slots) {
#pragma unroll 1
    for (int i = 0; i < slots; ++i) next();
  }

 private:
  int slot_ = 0;
  unsigned parity_ = 0;
};

/// The producer's way to a slot that may be overwritten: at once on the first lap.
template <int kSlots>
inline void wait_empty(BarrierRing<kSlots>& ring, const RingPlace<kSlots>& place) {
  wait(ring.empty[place.slot()], place.parity() ^ 1u);
}

/// The consumer's way to a slot that has been filled.
template <int kSlots>
inline void wait_full(BarrierRing<kSlots>& ring, const RingPlace<kSlots>& place) {
  wait(ring.full[place.slot()], place.parity());
}

/// Each consumer warp says so, with all lanes, once it needs a slot no more.
template <int kSlots>
inline void release(BarrierRing<kSlots>& ring, const RingPlace<kSlots>& place) {
  if (lane() == 0) arrive(ring.empty[place.slot()]);
}

}  // namespace heddle
