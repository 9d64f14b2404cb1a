#pragma once
// FlashAttention-3 (sm_90a): one warp fills rings of K and V by TMA (or, without a producer, warps
// of the last team: part/team_loader.cuh), warpgroups of 64 query rows each multiply by wgmma.
// While a warpgroup's softmax of one key block runs, its Q K^T of the next and its P V of the block
// before are on the tensor cores. Blocks are walked from the last, which needs a mask, to the
// first.

#include "instruction/fence.cuh"
#include "instruction/setmaxnreg.cuh"
#include "part/fa3_store.cuh"
#include "part/lost_blocks.cuh"
#include "part/mask.cuh"
#include "part/team_loader.cuh"
#include "part/tma_producer.cuh"
#include "part/turns.cuh"
#include "part/value_guard.cuh"
#include "part/warpgroup_tile.cuh"

namespace heddle::fa3 {

template <class Config>
struct Consumer {
  using Element = typename Config::Element;
  using Tiles = Shape<Config>;
  using Scores = Accumulator<1, Config::kTileN / 8>;
  static constexpr int kDepthSteps = Config::kHeadDimPadded / 16;
  static constexpr int kChainSteps = wgmma_chain_steps(Config::kHeadDimPadded);
  static constexpr int kChains = wgmma_score_chains(Config::kHeadDimPadded);
  static constexpr int kSteps = Config::kTileN / 16;

  SharedStorage<Config>& shared;
  const AttentionParameters& parameters;
  int team;  ///< this warpgroup
  Turns<Tiles::kTeams, kFirstTurnBarrier, Config::kPingPong> turns;
  TileReader<Config::kQueryStages> tiles;
  TeamLoader<Config> loader;
  GuardBell<Config::kQueryStages> bell;
  RingPlace<Config::kStages> keys;
  RingPlace<Config::kStages> values;
  TeamStore<Config> storing;

  TeamRows<Config> rows;
  unsigned probability[kSteps][4];

  Consumer(SharedStorage<Config>& storage, const MappedParameters& launch, int index)
      : shared(storage),
        parameters(launch.attention),
        team(index),
        turns(index),
        tiles(storage.tiles),
        loader(launch, storage, index),
        storing(storage, launch, index) {}

  /// The guard may look at the next tile's values: they come while this one ends.
  void ring_guard() {
    if (Tiles::kGuarded && team == 0) bell.ring();
  }

  /// Starts the chains of Q K^T.
  void multiply_query_key(Scores (&chains)[kChains]) {
    const auto a =
        matrix_descriptor(shared.query[uniform(tiles.slot())] + kWarpgroupRows * 128 * team,
                          k_major_layout(Tiles::kQueryTile));
    const auto b =
        matrix_descriptor(shared.key[uniform(keys.slot)], k_major_layout(Tiles::kKeyTile));
    wgmma_fence();
#pragma unroll
    for (int step = 0; step < kDepthSteps; ++step) {
      auto& sums = registers_of(chains[step / kChainSteps]);
      const auto at_a = advance(a, k_major_step_bytes(Tiles::kQueryTile, step));
      const auto at_b = advance(b, k_major_step_bytes(Tiles::kKeyTile, step));
      if (step % kChainSteps == 0) {
        wgmma_set<Major::kK, Major::kK>(sums, at_a, at_b, Element{});
      } else {
        wgmma_add<Major::kK, Major::kK>(sums, at_a, at_b, Element{});
      }
    }
    wgmma_commit();
  }

  /// Until at most kPending younger groups of products run; the scores are in the first chain.
  template <int kPending>
  void wait_scores(Scores (&chains)[kChains]) {
    auto& sums = registers_of(chains);
    wgmma_wait<kPending>(sums);
#pragma unroll
    for (int chain = 1; chain < kChains; ++chain) {
#pragma unroll
      for (int i = 0; i < Config::kTileN / 2; ++i) sums[0][i] += sums[chain][i];
    }
    release(shared.key_ring, keys);
    keys.next();
    loader.keys_released();
  }

  /// Starts output += P V.
  void multiply_probability_value() {
    auto& sums = registers_of(rows.output);
    const auto b =
        matrix_descriptor(shared.value[uniform(values.slot)], mn_major_layout(Tiles::kKeyTile));
    wgmma_fence(sums, probability);
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      wgmma_add<Major::kMn>(sums, probability[step],
                            advance(b, mn_major_step_bytes(Tiles::kKeyTile, step)), Element{});
    }
    wgmma_commit();
  }

  void wait_output() {
    wgmma_wait<0>(registers_of(rows.output), probability);
    release(shared.value_ring, values);
    values.next();
    loader.values_released();
  }

  void round(const Scores& scores) {
#pragma unroll
    for (int i = 0; i < 4 * kSteps; ++i) {
      const float* pair = &scores.value[0][i / 2][2 * (i % 2)];
      probability[i / 4][i % 4] = pack(pair[0], pair[1], Element{});
    }
  }

  /// The block's softmax. Returns what the output has to be multiplied by, for each of the thread's
  /// rows: a product is still adding to it. Only the first block can be kFirst; without a causal
  /// mask no other one has keys to hide.
  template <bool kFirst>
  Accumulator<1, 1> exponentiate(Scores& scores, const Mask<Config>& mask, const Work<Config>& work,
                                 int block) {
    const auto first_row = work.row(parameters, storing.warp_row());
    const int first_key = block * Config::kTileN;
    mask.apply_score_hook(scores, parameters.scale, first_row, first_key);
    const bool may_hide = kFirst || Tiles::kGuarded;
    if (may_hide && block >= work.range.first_masked) mask.apply(scores, first_row, first_key);
    Accumulator<1, 1> factor;
#pragma unroll
    for (float& entry : factor.value[0][0]) entry = 1.0f;
    rows.softmax.absorb(scores, factor, parameters.scale_log2, block);
    return factor;
  }

  /// Until the values of `block` may be multiplied.
  void wait_values(const Work<Config>& work, int block) {
    wait_full(shared.value_ring, values);
    if (!Tiles::kGuarded || block < work.range.first_masked) return;
    if (shared.nonfinite[values.slot] != 0) rows.found_nonfinite = true;
    sync_warp();  // lane 0 will release the slot for all of them
  }

  void rescale(const Accumulator<1, 1>& factor) {
    const bool moved = factor.value[0][0][0] != 1.0f || factor.value[0][0][2] != 1.0f;
    if (!warp_any(moved)) return;
#pragma unroll
    for (int c = 0; c < TeamRows<Config>::Output::kColumnTiles; ++c) {
#pragma unroll
      for (int i = 0; i < 4; ++i) rows.output.value[0][c][i] *= factor.value[0][0][i];
    }
  }

  /// A block of which this team sees nothing: it keeps step with the others.
  void pass() {
    wait_full(shared.key_ring, keys);
    turns.take();
    turns.give();
    release(shared.key_ring, keys);
    keys.next();
    wait_full(shared.value_ring, values);
    release(shared.value_ring, values);
    values.next();
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
    wait_full(shared.key_ring, keys);
    if constexpr (Config::kOverlap) {
      turns.take();
      multiply_query_key(chains);
      wait_values(work, block + 1);
      multiply_probability_value();
    } else {
      wait_values(work, block + 1);
      turns.take();
      multiply_probability_value();
      wait_output();
      multiply_query_key(chains);
    }
    turns.give();
    loader.products_started();
  }

  /// All key blocks of a tile that has some; leaves the unnormalised output.
  void attend(const Work<Config>& work) {
    const Mask<Config> mask{work.sequence, work.item};
    Scores chains[kChains];
    Scores& scores = chains[0];
    int block = pass_hidden_blocks(work);
    if (Config::kSkipMasked && block < work.range.begin) return leave_tile();
    wait_full(shared.key_ring, keys);
    turns.take();
    multiply_query_key(chains);
    turns.give();
    loader.products_started();
    storing.finish(tiles, loader);
    wait_scores<0>(chains);
    exponentiate<true>(scores, mask, work, block);
    round(scores);
#pragma unroll 1
    while (--block >= work.range.begin) {
      start_products(chains, work, block);
      rows.softmax.settle(block);
      wait_scores<Config::kOverlap ? 1 : 0>(chains);
      const auto factor = exponentiate<false>(scores, mask, work, block);
      if constexpr (Config::kOverlap) wait_output();
      rescale(factor);
      round(scores);
    }
    leave_tile();
    wait_values(work, work.range.begin);
    multiply_probability_value();
    wait_output();
    if constexpr (Config::kCheckedSum) {
      const LostBlocks<Config> lost(parameters, work, work.first_query + storing.warp_row());
      lost.make_up(rows.softmax, rows.output);
    }
  }

  /// The tile's queries are no longer needed, unless their slot is to take its output.
  void leave_tile() {
    if constexpr (Config::kPersistent) ring_guard();
    if constexpr (Config::kTmaStore) return;
    tiles.advance();
    tiles.release();
    loader.queries_released();
  }
};

template <class Config>
inline void consume(const MappedParameters& parameters, SharedStorage<Config>& shared, int team) {
  Consumer<Config> consumer(shared, parameters, team);
  consumer.loader.begin();
  consumer.ring_guard();
  WorkItem item;
  while (consumer.tiles.next(item)) {
    const Work<Config> work(parameters.attention, item);
    consumer.rows.clear();
    if (work.is_empty()) {
      consumer.leave_tile();
    } else {
      consumer.attend(work);
    }
    consumer.storing.store(consumer.rows, work, consumer.tiles, consumer.loader);
    if constexpr (!Config::kPersistent) break;
  }
  consumer.storing.finish(consumer.tiles, consumer.loader);
  consumer.turns.finish();
}

/// The warpgroup without rows: a thread that loads, warps that look at what it has loaded.
template <class Config>
inline void supply(const MappedParameters& parameters, SharedStorage<Config>& shared) {
  if (warp() % 4 == 0) {
    if (elect_one()) Producer<Config>(parameters, shared).run();
  } else if constexpr (Shape<Config>::kGuarded) {
    ValueGuard<Config>(parameters.attention, shared).run();
  }
}

template <class Config>
inline void attention(const MappedParameters& parameters) {
  static_assert(Config::kSharedBytes == sizeof(SharedStorage<Config>),
                "the host's shared-memory size is not the kernel's");
  constexpr int kTeams = Shape<Config>::kTeams;
  constexpr RoleRegisters kRegisters = role_registers(kTeams);
  auto& shared = *reinterpret_cast<SharedStorage<Config>*>(shared_memory());
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
