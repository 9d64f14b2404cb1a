#pragma once
// What the roles of an fa3 block share: tiles in shared memory, barriers, and what a tile is.

#include "part/barrier_ring.cuh"
#include "part/block_range.cuh"
#include "part/packed_rows.cuh"
#include "part/redo_list.cuh"
#include "part/sequence_info.cuh"
#include "part/tile_queue.cuh"
#include "swizzle.cuh"
#include "warpgroup_layout.cuh"

namespace heddle::fa3 {

/// Named barriers; 0 is the block's own.
constexpr int kGuardBarrier = 1;
constexpr int kFirstTurnBarrier = 2;   ///< one for each team of consumers
constexpr int kFirstStoreBarrier = 6;  ///< the same
constexpr int kFirstWakeBarrier = 10;  ///< two for each slot of the tile queue
constexpr int kGuardThreads = kGuardWarps * kWarpSize;
/// The first team of consumers wakes the guard.
constexpr int kWakeThreads = kGuardThreads + kWarpgroupWarps * kWarpSize;

template <class Config>
struct Shape {
  static constexpr int kTeams = Config::kTileM / kWarpgroupRows;
  static constexpr int kElementBytes = sizeof(typename Config::Element);
  static constexpr int kRowBytes =
      Config::kScaledInputs ? Config::kHeadDim : tma_row_bytes(Config::kHeadDimPadded);
  /// Bytes of a row of a box of Q or K.
  static constexpr int kSpan = Config::kScaledInputs ? byte_box_columns(kRowBytes) : 128;
  static constexpr int kColumnBlocks = kRowBytes / kSpan;
  static constexpr SwizzledTile kQueryTile{Config::kTileM, swizzle_of_span(kSpan)};
  static constexpr SwizzledTile kKeyTile{Config::kTileN, swizzle_of_span(kSpan)};
  static constexpr int kQueryBytes = kQueryTile.block_bytes() * kColumnBlocks;
  static constexpr int kKeyBytes = kKeyTile.block_bytes() * kColumnBlocks;
  /// V lies like K, or, of 8 bits, transposed: in rows of keys.
  static constexpr int kValueSpan =
      Config::kScaledInputs ? byte_box_columns(Config::kTileN) : kSpan;
  static constexpr int kValueRows = Config::kScaledInputs ? Config::kHeadDim : Config::kTileN;
  static constexpr int kValueBlocks =
      Config::kScaledInputs ? Config::kTileN / kValueSpan : kColumnBlocks;
  static constexpr SwizzledTile kValueTile{kValueRows, swizzle_of_span(kValueSpan)};
  static_assert(kValueTile.block_bytes() * kValueBlocks == kKeyBytes);
  /// Without a mask only keys past the end are hidden, and for those TMA brings zeros.
  static constexpr bool kGuarded = Config::kCausal || Config::kMaskHook;
  /// It comes in rows all the same.
  static constexpr bool kTransposes = Config::kScaledInputs && !Config::kTransposedValues;
  static constexpr int kRawTiles = kTransposes ? kRawSlots : 0;
  /// Outputs are looked at, and values only once one of them was spoilt (part/redo_list.cuh). Where
  /// ptxas has no register left for that, or takes long as it is, all masked value blocks are
  /// looked at; of 8-bit inputs nothing would be gained either.
  static constexpr bool kWatched =
      kGuarded && !Config::kScaledInputs && !Config::kSplitKv && !Config::kCheckedSum;
  /// By the guard: who transposes looks at values anyway.
  static constexpr bool kHasGuard = kGuarded && !kTransposes;
  /// Warps that read the tile queue.
  static constexpr bool kHelped = kGuarded || kTransposes;
  static constexpr int kReaders = kWarpgroupWarps * kTeams + (kHelped ? kGuardWarps : 0);
  static constexpr int kWarpgroups = kTeams + (Config::kWarpSpecialized ? 1 : 0);
  static_assert(Config::kThreads == kWarpgroupWarps * kWarpSize * kWarpgroups,
                "consumers and, where roles are apart, a producer");
  static_assert(Config::kWarpSpecialized || !kHelped, "helpers are warps of the producer's");
  static_assert(kQueryTile.is_aligned() && kKeyTile.is_aligned() && kValueTile.is_aligned());
};

/// Of the slots behind those of V: blocks that have come in rows, and wait to be transposed.
template <bool kTransposes>
struct RawRing : BarrierRing<kRawSlots> {};
template <>
struct RawRing<false> {
  void init(int) {}
};

template <class Config>
struct SharedStorage {
  alignas(1024) unsigned char query[Config::kQueryStages][Shape<Config>::kQueryBytes];
  unsigned char key[Config::kStages][Shape<Config>::kKeyBytes];
  unsigned char value[Config::kStages + Shape<Config>::kRawTiles][Shape<Config>::kKeyBytes];
  RedoList<Config::kQueryStages> redo;
  TileQueue<Config::kQueryStages> tiles;
  BarrierRing<Config::kStages> key_ring;
  BarrierRing<Config::kStages> value_ring;
  /// A masked value block of a guarded tile lands here, and is full once the guard has looked at
  /// it.
  Barrier landed[Config::kStages];
  RingPlace<Config::kStages> landing;  ///< the producer's way through them
  int nonfinite[Config::kStages];      ///< whether it then found NaN or Inf
  int guard_votes[Config::kStages][kGuardWarps];
  RawRing<Shape<Config>::kTransposes> raw_ring;

  /// One thread of the block.
  void init() {
    constexpr int kConsumerWarps = kWarpgroupWarps * Shape<Config>::kTeams;
    tiles.ring.init(Shape<Config>::kReaders);
    key_ring.init(kConsumerWarps);
    value_ring.init(kConsumerWarps);
    raw_ring.init(kGuardWarps);
    redo.init(kConsumerWarps);
    landing = {};
    for (Barrier& barrier : landed) heddle::init(barrier, 1);
    for (int& found : nonfinite) found = 0;
  }
};

/// Where a row of a query tile is stored.
struct RowPlace {
  int head;
  int query;
  bool exists;
};

/// A query tile and the key blocks that it meets.
template <class Config>
struct Work {
  WorkItem item;
  SequenceInfo sequence;
  int first_query;
  BlockRange range;

  Work(const AttentionParameters& parameters, const WorkItem& work_item)
      : item(work_item),
        sequence(parameters, item.batch),
        first_query(item.query_tile * tile_queries(parameters)),
        range(BlockRange::of_tile<Config>(sequence, first_query, tile_queries(parameters))) {
    if constexpr (Config::kSplitKv) range = range.split(item.split, parameters.split_tiles);
  }

  bool is_empty() const { return range.begin >= range.end; }

  /// A row of the tile as masks take it.
  auto row(const AttentionParameters& parameters, int tile_row) const {
    if constexpr (Config::kPackGqa) {
      return PackedRow{first_query, tile_row, parameters.packed_heads};
    } else {
      return first_query + tile_row;
    }
  }

  /// The first key block of which a row may not see all. Rows further down see more.
  int first_masked(const AttentionParameters& parameters, int tile_row) const {
    if constexpr (!Config::kCausal) return range.first_masked;
    return BlockRange::of_tile<Config>(sequence, query_at(row(parameters, tile_row), 0), 1)
        .first_masked;
  }

  RowPlace place(const AttentionParameters& parameters, int tile_row) const {
    const auto at = row(parameters, tile_row);
    RowPlace place{item.head + head_at(at, 0), query_at(at, 0), true};
    place.exists = place.query < sequence.query_length;
    if constexpr (Config::kPackGqa) {
      // Whole queries may leave rows over, and the last pack have fewer heads.
      const int group_heads = parameters.heads / parameters.kv_heads;
      place.exists = place.exists && place.query - first_query < parameters.tile_queries &&
                     place.head < group_heads * (item.kv_head + 1);
    }
    return place;
  }

 private:
  static int tile_queries(const AttentionParameters& parameters) {
    return Config::kPackGqa ? parameters.tile_queries : Config::kTileM;
  }
};

}  // namespace heddle::fa3
