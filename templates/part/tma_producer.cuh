#pragma once
// What the roles of an fa3 block share, and the role that fills it: one thread that asks the TMA
// for tiles of Q, K and V as their slots come free.

#include "instruction/tma.cuh"
#include "mapped_parameters.cuh"
#include "part/barrier_ring.cuh"
#include "part/block_range.cuh"
#include "part/sequence_info.cuh"
#include "part/tile_walk.cuh"
#include "part/warpgroup_sanitize.cuh"
#include "warpgroup_layout.cuh"

namespace heddle::fa3 {
template <class Config>
struct Shape {
  static constexpr int kTeams = Config::kTileM / kWarpgroupRows;
  static constexpr int kColumnBlocks = tma_row_bytes(Config::kHeadDimPadded) / (2 * kBoxColumns);
  static constexpr SwizzledTile kQueryTile{Config::kTileM, Swizzle::k128};
  static constexpr SwizzledTile kKeyTile{Config::kTileN, Swizzle::k128};
  static constexpr int kQueryBytes = kQueryTile.block_bytes() * kColumnBlocks;
  static constexpr int kKeyBytes = kKeyTile.block_bytes() * kColumnBlocks;
  static_assert(Config::kThreads == kWarpgroupWarps * kWarpSize * (kTeams + 1),
                "consumers and a producer");
  static_assert(kQueryTile.is_aligned() && kKeyTile.is_aligned());
};

template <class Config>
struct SharedStorage {
  alignas(1024) unsigned char query[Config::kQueryStages][Shape<Config>::kQueryBytes];
  unsigned char key[Config::kStages][Shape<Config>::kKeyBytes];
  unsigned char value[Config::kStages][Shape<Config>::kKeyBytes];
  BarrierRing<Config::kQueryStages> query_ring;
  BarrierRing<Config::kStages> key_ring;
  BarrierRing<Config::kStages> value_ring;
  NonfiniteVotes<Config::kWarps> votes;
};

/// One query tile of the walk.
template <class Config>
struct Work {
  WorkItem item;
  SequenceInfo sequence;
  int first_query;
  BlockRange range;

  Work(const AttentionParameters& parameters, const WorkItem& work_item)
      : item(work_item),
        sequence(parameters, item.batch),
        first_query(item.query_tile * Config::kTileM),
        range(BlockRange::of_tile<Config>(sequence, first_query)) {}

  bool is_empty() const { return range.begin >= range.end; }
};

/// Place along an axis of a map: an axis of stride 0, whose entries are one, is one long there.
inline int map_place(long long stride, int index) {
  return stride == 0 ? 0 : index;
}

/// Where a head of a tensor is in its map.
struct MapHead {
  int head;
  int batch;

  MapHead(const TensorView& view, int head_index, int batch_index)
      : head(map_place(view.head_stride, head_index)),
        batch(map_place(view.batch_stride, batch_index)) {}
};

/// Asks for a tile of rows from `row` on: a box for each 64 columns. What overhangs the tensor
/// becomes zeros.
template <int kColumnBlocks>
inline void load_rows(unsigned char* tile, int block_bytes, const TensorMap& map, Barrier& full,
                      int row, MapHead place) {
  arrive_expect_tx(full, kColumnBlocks * block_bytes);
#pragma unroll
  for (int c = 0; c < kColumnBlocks; ++c) {
    load_tile(tile + c * block_bytes, map, full, {kBoxColumns * c, row, place.head, place.batch});
  }
}

/// One thread.
template <class Config>
inline void produce(const MappedParameters& maps, SharedStorage<Config>& shared) {
  using Tiles = Shape<Config>;
  const AttentionParameters& parameters = maps.attention;
  RingPlace<Config::kQueryStages> query;
  RingPlace<Config::kStages> place;  // K and V keep in step
  for (TileWalk<Config> walk(parameters); walk.more(); walk.next()) {
    const Work<Config> work(parameters, walk.item());
    if (work.is_empty()) continue;
    const WorkItem& item = work.item;
    wait_empty(shared.query_ring, query);
    load_rows<Tiles::kColumnBlocks>(shared.query[query.slot], Tiles::kQueryTile.block_bytes(),
                                    maps.query, shared.query_ring.full[query.slot],
                                    work.first_query,
                                    MapHead(parameters.query, item.head, item.batch));
    query.next();
#pragma unroll 1
    for (int block = work.range.end - 1; block >= work.range.begin; --block, place.next()) {
      const int first_key = block * Config::kTileN;
      wait_empty(shared.key_ring, place);
      load_rows<Tiles::kColumnBlocks>(shared.key[place.slot], Tiles::kKeyTile.block_bytes(),
                                      maps.key, shared.key_ring.full[place.slot], first_key,
                                      MapHead(parameters.key, item.kv_head, item.batch));
      wait_empty(shared.value_ring, place);
      load_rows<Tiles::kColumnBlocks>(shared.value[place.slot], Tiles::kKeyTile.block_bytes(),
                                      maps.value, shared.value_ring.full[place.slot], first_key,
                                      MapHead(parameters.value, item.kv_head, item.batch));
    }
  }
}

}  // namespace heddle::fa3
