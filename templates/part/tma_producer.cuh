#pragma once
// The role that fills an fa3 block: one thread that asks the TMA for tiles of Q, K and V as their
// slots come free. part/team_loader.cuh asks for them by the same functions.

#include "instruction/tma.cuh"
#include "mapped_parameters.cuh"
#include "part/fa3_shared.cuh"
#include "part/tile_walk.cuh"

namespace heddle::fa3 {

/// The first tiles wait for their maps, which lie in memory that nobody has read yet: each takes as
/// long as a load. One thread.
template <class Config>
inline void prefetch_maps(const MappedParameters& parameters) {
  prefetch_tensor_map(parameters.key);
  prefetch_tensor_map(parameters.query);
  prefetch_tensor_map(parameters.value);
  if constexpr (Config::kTmaStore) prefetch_tensor_map(parameters.output);
}

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

/// Asks for the tile whose first entry is (row, column): kBlocks boxes of kBoxColumns columns. What
/// overhangs the tensor becomes zeros.
template <int kBlocks, int kBoxColumns>
inline void load_boxes(unsigned char* tile, int block_bytes, const TensorMap& map, Barrier& full,
                       int row, int column, MapHead place) {
  arrive_expect_tx(full, kBlocks * block_bytes);
#pragma unroll
  for (int c = 0; c < kBlocks; ++c) {
    load_tile(tile + c * block_bytes, map, full,
              {column + kBoxColumns * c, row, place.head, place.batch});
  }
}

/// One thread.
template <class Config>
class Producer {
  using Tiles = Shape<Config>;
  static constexpr int kBoxColumns = Tiles::kSpan / Tiles::kElementBytes;

 public:
  Producer(const MappedParameters& maps, SharedStorage<Config>& shared)
      : maps_(maps), parameters_(maps.attention), shared_(shared) {}

  void run() {
    const TileOrder<Config> order(parameters_);
    TileWalk<Config> walk(parameters_);
    WorkItem item = order.item(walk.index());
    while (walk.more()) {
      const Work<Config> work(parameters_, item);
      load_first(work);
      walk.move_to(load_others(work, walk));
      if (Config::kPersistent && walk.more()) item = order.item(walk.index());
    }
    if constexpr (Config::kPersistent) announce_end();
    if constexpr (Tiles::kWatched) run_again();
  }

 protected:
  /// The tiles that are to be done again. They have keys.
  void run_again() {
    if (!shared_.redo.needs_another_round()) return;
    WorkItem item;
#pragma unroll 1
    while (shared_.redo.next_again(item)) {
      const Work<Config> work(parameters_, item);
#pragma unroll 1
      for (int block = work.range.end - 1; block >= work.range.begin; --block, places_.next()) {
        load_keys(work, block);
        if (block == work.range.end - 1) load_queries(work);
        load_values(work, block);
      }
    }
    if constexpr (Config::kPersistent) announce_end();
  }

  /// The first keys are asked for before a slot for the queries is free.
  void load_first(const Work<Config>& work) {
    if (work.is_empty()) return announce_empty(work.item);
    if constexpr (Tiles::kWatched) shared_.redo.enter(work.item);
    load_keys(work, work.range.end - 1);
    load_queries(work);
    load_values(work, work.range.end - 1);
    places_.next();
  }

  /// Draws the tile after this one and returns it. As late as hides the time that it takes: who
  /// drew a tile while a long one is still ahead would keep it from blocks that are idle by then.
  unsigned load_others(const Work<Config>& work, const TileWalk<Config>& walk) {
    constexpr int kBlocksLeft = 2;
    const int last = work.range.begin + kBlocksLeft - 1;
    int block = work.range.end - 2;
    unsigned following = block < last ? walk.draw() : 0;
#pragma unroll 1
    for (; block >= work.range.begin; --block, places_.next()) {
      if (block == last) following = walk.draw();
      load_keys(work, block);
      load_values(work, block);
    }
    return following;
  }

  /// Writes what the next slot of the queue is about once it may be written.
  void write_item(const WorkItem& item) {
    wait_empty(shared_.tiles.ring, query_);
    shared_.tiles.items[query_.slot()] = item;
    if constexpr (Tiles::kWatched) shared_.redo.entry[query_.slot()] = shared_.redo.loading;
  }

  void load_queries(const Work<Config>& work) {
    write_item(work.item);
    if constexpr (Config::kPackGqa) {
      load_packed_queries(work);
      query_.next();
      return;
    }
    load_boxes<Tiles::kColumnBlocks, kBoxColumns>(
        shared_.query[query_.slot()], Tiles::kQueryTile.block_bytes(), maps_.query,
        shared_.tiles.ring.full[query_.slot()], work.first_query, 0,
        MapHead(parameters_.query, work.item.head, work.item.batch));
    query_.next();
  }

  /// A box has the rows of whole queries. Where those are not the whole tile, what the rows after
  /// them hold is multiplied too, and stored by nobody.
  void load_packed_queries(const Work<Config>& work) {
    Barrier& full = shared_.tiles.ring.full[query_.slot()];
    const int box_rows = parameters_.packed_heads * parameters_.tile_queries;
    arrive_expect_tx(full, Tiles::kSpan * Tiles::kColumnBlocks * box_rows);
    const MapHead place(parameters_.query, work.item.head, work.item.batch);
#pragma unroll
    for (int c = 0; c < Tiles::kColumnBlocks; ++c) {
      load_tile(shared_.query[query_.slot()] + c * Tiles::kQueryTile.block_bytes(), maps_.query,
                full, {kBoxColumns * c, place.head, work.first_query, place.batch});
    }
  }

  void announce_empty(const WorkItem& item) {
    write_item(item);
    arrive(shared_.tiles.ring.full[query_.slot()]);
    query_.next();
  }

  void announce_end() {
    WorkItem end{};
    end.query_tile = TileQueue<Config::kQueryStages>::kEnd;
    announce_empty(end);
  }

  void load_keys(const Work<Config>& work, int block) {
    wait_empty(shared_.key_ring, places_);
    load_boxes<Tiles::kColumnBlocks, kBoxColumns>(
        shared_.key[places_.slot()], Tiles::kKeyTile.block_bytes(), maps_.key,
        shared_.key_ring.full[places_.slot()], block * Config::kTileN, 0,
        MapHead(parameters_.key, work.item.kv_head, work.item.batch));
  }

  void load_values(const Work<Config>& work, int block) {
    if constexpr (Tiles::kTransposes) return load_raw_values(work, block);
    wait_empty(shared_.value_ring, places_);
    constexpr int kValueColumns = Tiles::kValueSpan / Tiles::kElementBytes;
    const int first_key = block * Config::kTileN;
    load_boxes<Tiles::kValueBlocks, kValueColumns>(
        shared_.value[places_.slot()], Tiles::kValueTile.block_bytes(), maps_.value,
        landing_barrier(work, block), Config::kTransposedValues ? 0 : first_key,
        Config::kTransposedValues ? first_key : 0,
        MapHead(parameters_.value, work.item.kv_head, work.item.batch));
  }

  /// As rows, for the warps that transpose them.
  void load_raw_values(const Work<Config>& work, int block) {
    if constexpr (Tiles::kTransposes) {
      wait_empty(shared_.raw_ring, raw_);
      load_boxes<Tiles::kColumnBlocks, kBoxColumns>(
          shared_.value[Config::kStages + raw_.slot()], Tiles::kKeyTile.block_bytes(), maps_.value,
          shared_.raw_ring.full[raw_.slot()], block * Config::kTileN, 0,
          MapHead(parameters_.value, work.item.kv_head, work.item.batch));
      raw_.next();
    }
  }

  /// A masked value block of a guarded tile is the guard's first.
  Barrier& landing_barrier(const Work<Config>& work, int block) {
    const bool is_guarded = Tiles::kHasGuard && (!Tiles::kWatched || shared_.redo.is_guarded());
    if (!is_guarded || block < work.range.first_masked) {
      return shared_.value_ring.full[places_.slot()];
    }
    Barrier& barrier = shared_.landed[shared_.landing.slot()];
    shared_.landing.next();
    return barrier;
  }

  const MappedParameters& maps_;
  const AttentionParameters& parameters_;
  SharedStorage<Config>& shared_;
  RingPlace<Config::kQueryStages> query_;
  RingPlace<Config::kStages> places_;  ///< K and V keep in step
  RingPlace<kRawSlots> raw_;
};

}  // namespace heddle::fa3
