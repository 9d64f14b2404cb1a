#pragma once
// FlashAttention-3 (sm_90a): one warp fills rings of K and V by TMA (or, without a producer, warps
// of the last team: part/team_loader.cuh), warpgroups of 64 query rows each multiply by wgmma
// (part/team_products.cuh). Q K^T of a key block and P V of the block before are started together,
// and the block's softmax begins as soon as the former is done: P V runs beside it. Blocks are
// walked from the last, which needs a mask, to the first.

#include "instruction/fence.cuh"
#include "instruction/setmaxnreg.cuh"
#include "part/fa3_store.cuh"
#include "part/lost_blocks.cuh"
#include "part/mask.cuh"
#include "part/team_products.cuh"
#include "part/tma_producer.cuh"
#include "part/turns.cuh"
#include "part/value_guard.cuh"
#include "part/value_transposer.cuh"

namespace heddle::fa3 {

/// What a block's softmax asks of the output.
struct Rescale {
  Accumulator<1, 1> factor;  ///< of each of the thread's rows
  bool needed = true;        ///< by any row of the warp, maybe
};

template <class Config>
struct Consumer {
  using Tiles = Shape<Config>;
  using Products = TeamProducts<Config>;
  using Scores = typename Products::Scores;
  static constexpr int kChains = Products::kChains;

  SharedStorage<Config>& shared;
  const AttentionParameters& parameters;
  int team;  ///< this warpgroup
  Turns<Tiles::kTeams, kFirstTurnBarrier, Config::kPingPong> turns;
  TileReader<Config::kQueryStages> tiles;
  Products products;
  TeamStore<Config> storing;

  WorkItem item;  ///< the tile that has been left
  int entry;      ///< its place in the list of those to be done again
  ScoreScale<Config> scale;
  int first_masked;  ///< the first block of which this warp's rows may not see all
  TeamRows<Config> rows;

  Consumer(SharedStorage<Config>& storage, const MappedParameters& launch, int index)
      : shared(storage),
        parameters(launch.attention),
        team(index),
        turns(index),
        tiles(storage.tiles),
        products(storage, launch, index),
        storing(storage, launch, index) {}

  /// The guard may look at a tile's values. Those of the next one come while this one ends.
  void ring_guard(const RingPlace<Config::kQueryStages>& tile) {
    if (Tiles::kHasGuard && team == 0) {
      GuardBell<Config::kQueryStages>::ring(tile);
    }
  }

  /// The block's softmax. Returns what the output has to be multiplied by: a product is still
  /// adding to it. Only the first block can be kFirst; without a causal mask no other one has keys
  /// to hide.
  template <bool kFirst>
  Rescale exponentiate(Scores& scores, const Mask<Config>& mask, const Work<Config>& work,
                       int block) {
    const auto first_row = work.row(parameters, storing.warp_row());
    const int first_key = block * Config::kTileN;
    scale.apply(parameters, scores, first_key);
    mask.apply_score_hook(scores, parameters.scale, first_row, first_key);
    const bool may_hide = kFirst || Tiles::kGuarded;
    if (may_hide && block >= first_masked) mask.apply(scores, first_row, first_key);
    Rescale rescale;
#pragma unroll
    for (float& entry : rescale.factor.value[0][0]) entry = 1.0f;
    if constexpr (kFirst) {
      rows.softmax.absorb_first(scores, rescale.factor, scale.at(parameters));
    } else {
      rescale.needed = rows.softmax.absorb(scores, rescale.factor, scale.at(parameters), block);
    }
    return rescale;
  }

  /// Until the values of `block` may be multiplied.
  void wait_values(const Work<Config>& work, int block) {
    products.wait_values();
    if (!Tiles::kGuarded || block < work.range.first_masked) return;
    if (shared.nonfinite[products.values.slot()] != 0) rows.found_nonfinite = true;
    sync_warp();  // lane 0 will release the slot for all of them
  }

  void rescale(const Rescale& rescale) {
    const float(&factor)[4] = rescale.factor.value[0][0];
    constexpr bool kAlwaysNeeded = !Config::kLazyRescale && !Config::kCheckedSum;
    if (kAlwaysNeeded ? !warp_any(factor[0] != 1.0f || factor[2] != 1.0f) : !rescale.needed) return;
#pragma unroll
    for (int c = 0; c < TeamRows<Config>::Output::kColumnTiles; ++c) {
#pragma unroll
      for (int i = 0; i < 4; ++i) rows.output.value[0][c][i] *= factor[i];
    }
  }

  /// What the tile left is stored.
  void store() {
    const Work<Config> work(parameters, item);
    if constexpr (Tiles::kWatched) look_at_output();
    if constexpr (Config::kCheckedSum) {
      const LostBlocks<Config> lost(parameters, work, work.first_query + storing.warp_row());
      if (!work.is_empty()) lost.make_up(rows.softmax, rows.output);
    }
    storing.store(rows, work, tiles, products.loader);
  }

  /// A block of which this team sees nothing: it keeps step with the others.
  void pass() {
    products.wait_keys();
    turns.take();
    turns.give();
    sync_warp();  // lane 0 releases the slots for all of them
    products.release_keys();
    products.wait_values();
    sync_warp();
    products.release_values();
  }

  /// The last block that this team works on; those behind it are passed.
  int pass_hidden_blocks(const Work<Config>& work) {
    int block = work.range.end - 1;
    if constexpr (Config::kSkipMasked) {
      const auto first_row = work.row(parameters, kWarpgroupRows * team);
      const int first_query = query_at(first_row, 0);
      const int last_query =
          minimum(query_at(first_row, kWarpgroupRows - 1), work.sequence.query_length - 1);
      const int seen = last_query < first_query ? 0 : work.sequence.causal_keys(last_query);
#pragma unroll 1
      for (; block >= work.range.begin && block * Config::kTileN >= seen; --block) pass();
    }
    return block;
  }

  /// Starts Q K^T of `block` and P V of the block before; without overlap the latter also ends, and
  /// nothing runs beside the softmax but products of other teams.
  void start_products(Scores (&chains)[kChains], const Work<Config>& work, int block) {
    products.wait_keys();
    if constexpr (Config::kOverlap) {
      turns.take();
      products.multiply_query_key(chains, tiles.slot());
      wait_values(work, block + 1);
      products.multiply_probability_value(rows.output);
    } else {
      wait_values(work, block + 1);
      turns.take();
      products.multiply_probability_value(rows.output);
      products.wait_output(rows.output);
      products.multiply_query_key(chains, tiles.slot());
    }
    turns.give();
    products.loader.products_started();
    scale.begin_block(parameters, block * Config::kTileN);
  }

  /// A block that is not the first.
  void attend_block(Scores (&chains)[kChains], const Mask<Config>& mask, const Work<Config>& work,
                    int block) {
    start_products(chains, work, block);
    products.template wait_scores<Config::kOverlap ? 1 : 0>(chains);
    const Rescale moved = exponentiate<false>(chains[0], mask, work, block);
    if constexpr (Config::kOverlap) products.wait_output(rows.output);
    rescale(moved);
    products.round(chains[0]);
  }

  /// The blocks before `last`. Limits are set between runs of them rather than in the loop. In a
  /// split that takes registers that ptxas does not have: more than 80 bytes of spill, or a C7511.
  void attend_others(Scores (&chains)[kChains], const Mask<Config>& mask, const Work<Config>& work,
                     int last) {
    int block = last;
    if constexpr (Config::kSplitKv) {
#pragma unroll 1
      while (--block >= work.range.begin) {
        rows.softmax.settle_if_due(last - block, block - work.range.begin + 1);
        attend_block(chains, mask, work, block);
      }
    } else {
#pragma unroll 1
      for (int blocks = 1; block > work.range.begin;) {  // absorbed so far
        rows.softmax.settle(blocks, block - work.range.begin);
        blocks = rows.softmax.settles_next(blocks);
        const int stop = maximum(work.range.begin, last + 1 - blocks);
#pragma unroll 1
        while (block > stop) attend_block(chains, mask, work, --block);
      }
    }
  }

  /// All key blocks of a tile that has some; leaves the unnormalised output.
  void attend(const Work<Config>& work) {
    const Mask<Config> mask{work.sequence, work.item};
    first_masked = uniform(work.first_masked(parameters, storing.warp_row()));
    scale.begin(parameters, work.item.batch, work.item.kv_head, [&](int row) {
      return work.place(parameters, storing.warp_row() + fragment_row(row));
    });
    Scores chains[kChains];
    Scores& scores = chains[0];
    const int block = pass_hidden_blocks(work);
    if (Config::kSkipMasked && block < work.range.begin) return leave_tile();
    products.wait_keys();
    turns.take();
    products.multiply_query_key(chains, tiles.slot());
    turns.give();
    products.loader.products_started();
    storing.finish(tiles, products.loader);
    scale.begin_block(parameters, block * Config::kTileN);
    products.template wait_scores<0>(chains);
    exponentiate<true>(scores, mask, work, block);
    products.round(scores);
    attend_others(chains, mask, work, block);
    leave_tile();
    wait_values(work, work.range.begin);
    products.multiply_probability_value(rows.output);
    products.wait_output(rows.output);
  }

  /// The tile's queries are no longer needed, unless their slot is to take its output. What tile it
  /// is, whoever stores it reads once more: the loop has no registers for that.
  void leave_tile() {
    item = tiles.item();
    if constexpr (Tiles::kWatched) entry = shared.redo.entry[tiles.slot()];
    if constexpr (Config::kPersistent) {
      auto next_tile = tiles.place();
      next_tile.next();
      ring_guard(next_tile);
    }
    if constexpr (Config::kTmaStore) return;
    tiles.advance();
    tiles.release();
    products.loader.queries_released();
  }

  /// All tiles that the queue brings.
  void walk() {
    WorkItem next;
    while (tiles.next(next)) {
      const Work<Config> work(parameters, next);
      rows.clear();
      if (work.is_empty()) {
        leave_tile();
      } else {
        attend(work);
      }
      store();
      if constexpr (!Config::kPersistent) break;
    }
    storing.finish(tiles, products.loader);
  }

  /// Whether NaN or Inf among values has spoilt the tile.
  void look_at_output() {
    const bool spoilt = is_spoilt(rows.output);
    if (spoilt && entry != shared.redo.kGuarded && lane() == 0) {
      shared.redo.spoilt[entry][warp()] = 1;
    }
  }

  /// After the tiles that the queue has brought: whether it brings some of them again.
  bool begin_another_round() {
    if constexpr (!Tiles::kWatched) return false;
    // This warp has not arrived yet, unless this was the second round.
    if (test_wait(shared.redo.looked_at, 0)) return false;
    sync_warp();
    if (lane() == 0) arrive(shared.redo.looked_at);
    if (!shared.redo.needs_another_round()) return false;
    if constexpr (Config::kTmaStore) storing.wait_all();  // else an earlier store could come last
    if constexpr (Config::kPersistent) {
      tiles.advance();
      tiles.release();
    }
    ring_guard(tiles.place());
    return true;
  }
};

template <class Config>
inline void consume(const MappedParameters& parameters, SharedStorage<Config>& shared, int team) {
  Consumer<Config> consumer(shared, parameters, team);
  consumer.products.loader.begin();
  consumer.ring_guard(consumer.tiles.place());
#pragma unroll 1
  do {
    consumer.walk();
  } while (consumer.begin_another_round());
  consumer.turns.finish();
}

/// The warpgroup without rows: a thread that loads, warps that look at what it has loaded or
/// transpose it.
template <class Config>
inline void supply(const MappedParameters& parameters, SharedStorage<Config>& shared) {
  if (warp() % 4 == 0) {
    if (elect_one()) Producer<Config>(parameters, shared).run();
  } else if constexpr (Shape<Config>::kTransposes) {
    ValueTransposer<Config>(parameters.attention, shared).run();
  } else if constexpr (Shape<Config>::kGuarded) {
    ValueGuard<Config>(parameters.attention, shared).run();
  }
}

template <class Config>
inline void attention(const MappedParameters& parameters) {
  static_assert(Config::kSharedBytes == sizeof(SharedStorage<Config>),
                "the host's shared-memory size is not the kernel's");
  constexpr int kTeams = Shape<Config>::kTeams;
  constexpr RoleRegisters kRegisters = role_registers(kTeams, Shape<Config>::kTransposes);
  auto& shared = *reinterpret_cast<SharedStorage<Config>*>(shared_memory());
  if (thread_index() == kWarpSize) prefetch_maps<Config>(parameters);
  if (thread_index() == 0) {
    shared.init();
    fence_barrier_init();
  }
  sync_block();
  const int team = uniform(warp() / 4);
  if constexpr (!Config::kWarpSpecialized) {
    consume(parameters, shared, team);
  } else if (team == kTeams) {
    if constexpr (kRegisters.producer > 0) decrease_registers<kRegisters.producer>();
    supply(parameters, shared);
  } else {
    if constexpr (kRegisters.consumer > 0) increase_registers<kRegisters.consumer>();
    consume(parameters, shared, team);
  }
}

}  // namespace heddle::fa3
