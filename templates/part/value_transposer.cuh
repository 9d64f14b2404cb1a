#pragma once
// A role that brings 8-bit values from rows, one for each key, into the columns that 8-bit products
// want: the warps of the producer's warpgroup that do not load.
//
// A product's A operand asks for probabilities that other lanes hold, unless the keys of V lie in
// the order of wgmma_8bit_key. That order is what falls out here: a transposed ldmatrix gives a
// lane two neighbouring keys of two neighbouring columns, and two of them, eight keys apart, are
// sorted by column with one byte permutation for each.

#include "instruction/byte_permute.cuh"
#include "instruction/fence.cuh"
#include "instruction/ldmatrix.cuh"
#include "instruction/stmatrix.cuh"
#include "part/fa3_shared.cuh"
#include "part/nonfinite.cuh"

namespace heddle::fa3 {

/// Warps 1 to 3 of the producer's warpgroup.
template <class Config>
class ValueTransposer {
  using Tiles = Shape<Config>;

 public:
  ValueTransposer(const AttentionParameters& parameters, SharedStorage<Config>& shared)
      : parameters_(parameters), shared_(shared), tiles_(shared.tiles) {}

  void run() {
    WorkItem item;
    while (tiles_.next(item)) {
      const Work<Config> work(parameters_, item);
      tiles_.advance();
      tiles_.release();
#pragma unroll 1
      for (int block = work.range.end - 1; block >= work.range.begin; --block) {
        const bool may_hide = Tiles::kGuarded && block >= work.range.first_masked;
        move_block(may_hide);
      }
      if constexpr (!Config::kPersistent) return;
    }
  }

 private:
  static constexpr int kKeys = 32;     ///< of a step: two groups
  static constexpr int kColumns = 16;  ///< the 16 bytes of an ldmatrix row
  static constexpr int kKeySteps = Config::kTileN / kKeys;

  /// Steps that are under way at once, of the same keys: a load's way is long, but a producer has
  /// few registers, and those that look for NaN take some.
  template <bool kMayHide>
  struct Unit {
    static constexpr bool kManyRegisters = Tiles::kTeams == 2 && Config::kHeadDim % 128 == 0;
    static constexpr int kSteps = kMayHide ? 1 : (kManyRegisters ? 4 : 2);
    static constexpr int kWidth = kSteps * kColumns;
    static constexpr int kCount = kKeySteps * (Config::kHeadDim / kWidth);
    /// Then places of a unit's columns differ from the first one's in bits of their own.
    static_assert(Config::kHeadDim % kWidth == 0 && kWidth <= Tiles::kSpan);

    unsigned bytes[kSteps][4];
  };

  /// Where a unit's first step begins in a tile: steps do where the swizzle does, which then
  /// exchanges nothing.
  static constexpr unsigned place(SwizzledTile tile, unsigned row, unsigned column) {
    const unsigned span = swizzle_span(tile.swizzle);
    return column / span * tile.block_bytes() + row * span + column % span;
  }

  /// This warp among those that transpose.
  static int helper() {
    return warp() % 4 - 1;
  }

  /// NaN of a block that hides some of its keys from some rows becomes 0, and is reported.
  void move_block(bool may_hide) {
    wait_full(shared_.raw_ring, raw_);
    wait_empty(shared_.value_ring, values_);
    const unsigned char* from = shared_.value[Config::kStages + raw_.slot()];
    unsigned char* to = shared_.value[values_.slot()];
    bool found = false;
    if (may_hide) {
      found = transpose<true>(from, to);
    } else {
      transpose<false>(from, to);
    }
    sync_warp();  // lane 0 speaks for all
    release(shared_.raw_ring, raw_);
    raw_.next();
    hand_over(may_hide, found);
    values_.next();
  }

  /// Whether NaN was found.
  template <bool kMayHide>
  static bool transpose(const unsigned char* from, unsigned char* to) {
    using Steps = Unit<kMayHide>;
    const unsigned lane_from = Tiles::kKeyTile.offset(lane(), 0);
    const unsigned lane_to = store_offset();
    unsigned seen = 0;
#pragma unroll 1
    for (unsigned at = helper(); at < Steps::kCount; at += kGuardWarps) {
      const unsigned key = kKeys * (at % kKeySteps);
      const unsigned column = Steps::kWidth * (at / kKeySteps);
      Steps unit;  // a lane's part of a place and a step's have no bit in common but the swizzle's
      load(unit, from, lane_from ^ place(Tiles::kKeyTile, key, column));
      if constexpr (kMayHide) seen = clear_nonfinite(unit, seen);
      store(unit, to + (lane_to ^ place(Tiles::kValueTile, column, key)));
    }
    return seen != 0;
  }

  template <class Steps>
  static void load(Steps& unit, const unsigned char* from, unsigned offset) {
#pragma unroll
    for (int i = 0; i < Steps::kSteps; ++i) {
      load_matrix_x4_transposed(unit.bytes[i], from + (offset ^ kColumns * i), 0);
    }
  }

  template <class Steps>
  static unsigned clear_nonfinite(Steps& unit, unsigned seen) {
#pragma unroll
    for (auto& bytes : unit.bytes) {
#pragma unroll
      for (unsigned& packed : bytes) {
        seen = note_nonfinite(seen, packed, E4M3{});
        packed = without_nonfinite(packed, E4M3{});
      }
    }
    return seen;
  }

  template <class Steps>
  static void store(Steps& unit, unsigned char* to) {
#pragma unroll
    for (int i = 0; i < Steps::kSteps; ++i) {
      sort_columns(unit.bytes[i]);
      store_matrix_x4(to, Tiles::kValueTile.offset(kColumns * i, 0), unit.bytes[i]);
    }
  }

  /// From keys 2q, 2q + 1 (and those 8 and more further) of columns 2c, 2c + 1 to four keys of one
  /// column each. Lanes of the upper columns begin with the odd one: so the eight rows that a store
  /// takes at once are in eight different rows of the swizzle.
  static void sort_columns(unsigned (&bytes)[4]) {
    const bool is_upper = lane() >= kWarpSize / 2;
    const unsigned first = is_upper ? 0x7531u : 0x6420u;
    const unsigned second = is_upper ? 0x6420u : 0x7531u;
#pragma unroll
    for (int group = 0; group < 2; ++group) {
      const unsigned low = bytes[2 * group];
      const unsigned high = bytes[2 * group + 1];
      bytes[2 * group] = byte_permute(low, high, first);
      bytes[2 * group + 1] = byte_permute(low, high, second);
    }
  }

  /// Of the row that this lane names to stmatrix in the first step: matrices are two of columns for
  /// each group.
  static int store_offset() {
    const int row = lane() % 8;
    const int matrix = lane() / 8;
    const int odd = (matrix ^ (row / 4)) % 2;
    return Tiles::kValueTile.offset(2 * row + odd, kKeyGroup * (matrix / 2));
  }

  /// The next block of this slot, and of the votes, waits for what is read here to have been told.
  void hand_over(bool may_hide, bool found) {
    int(&votes)[kGuardWarps] = shared_.guard_votes[values_.slot()];
    if (may_hide) {
      const bool any = warp_any(found);
      if (lane() == 0) votes[helper()] = any;
    }
    fence_async_shared();
    sync_team(kGuardBarrier, kGuardThreads);
    if (helper() != 0 || lane() != 0) return;
    if (may_hide) {
      int some = 0;
#pragma unroll
      for (const int vote : votes) some |= vote;
      shared_.nonfinite[values_.slot()] = some;
    }
    arrive(shared_.value_ring.full[values_.slot()]);
  }

  const AttentionParameters& parameters_;
  SharedStorage<Config>& shared_;
  TileReader<Config::kQueryStages> tiles_;
  RingPlace<kRawSlots> raw_;
  RingPlace<Config::kStages> values_;
};

}  // namespace heddle::fa3
