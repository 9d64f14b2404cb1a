#pragma once
// FlashAttention-3 (sm_90a): one warp fills rings of K and V by TMA, warpgroups of 64 query rows
// each multiply by wgmma. While a warpgroup's softmax of one key block runs, its Q K^T of the next
// and its P V of the block before are on the tensor cores. Blocks are walked from the last, which
// needs a mask, to the first.

#include "instruction/fence.cuh"
#include "instruction/setmaxnreg.cuh"
#include "part/checked_softmax.cuh"
#include "part/epilogue.cuh"
#include "part/lost_blocks.cuh"
#include "part/mask.cuh"
#include "part/softmax.cuh"
#include "part/tile_store.cuh"
#include "part/tma_producer.cuh"
#include "part/turns.cuh"
#include "part/value_guard.cuh"
#include "part/warpgroup_log_sum_exp.cuh"
#include "part/warpgroup_store.cuh"
#include "part/warpgroup_tile.cuh"

namespace heddle::fa3 {

template <class Config>
struct Consumer {
  using Element = typename Config::Element;
  using Tiles = Shape<Config>;
  using Scores = Accumulator<1, Config::kTileN / 8>;
  using Output = Accumulator<1, Config::kHeadDimPadded / 8>;
  static constexpr int kDepthSteps = Config::kHeadDimPadded / 16;
  static constexpr int kChainSteps = wgmma_chain_steps(Config::kHeadDimPadded);
  static constexpr int kChains = wgmma_score_chains(Config::kHeadDimPadded);
  static constexpr int kSteps = Config::kTileN / 16;

  SharedStorage<Config>& shared;
  const MappedParameters& maps;
  const AttentionParameters& parameters;
  int team;  ///< this warpgroup
  Turns<Tiles::kTeams, kFirstTurnBarrier, Config::kPingPong> turns;
  TileReader<Config::kQueryStages> tiles;
  GuardBell<Config::kQueryStages> bell;
  RingPlace<Config::kStages> keys;
  RingPlace<Config::kStages> values;

  Output output;
  typename WarpSoftmax<Config::kLazyRescale, Config::kCheckedSum>::Type softmax;
  unsigned probability[kSteps][4];
  bool is_storing = false;  ///< the TMA has a tile to read
  bool found_nonfinite;     ///< in a masked value block of the tile

  Consumer(SharedStorage<Config>& storage, const MappedParameters& launch, int index)
      : shared(storage),
        maps(launch),
        parameters(launch.attention),
        team(index),
        turns(index),
        tiles(storage.tiles) {}

  /// First row of this warp within the tile.
  int warp_row() const { return kWarpgroupRows * team + 16 * (warp() % 4); }

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
  }

  /// Starts output += P V.
  void multiply_probability_value() {
    auto& sums = registers_of(output);
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
    wgmma_wait<0>(registers_of(output), probability);
    release(shared.value_ring, values);
    values.next();
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
    const int first_query = work.first_query + warp_row();
    const int first_key = block * Config::kTileN;
    mask.apply_score_hook(scores, parameters.scale, first_query, first_key);
    const bool may_hide = kFirst || Tiles::kGuarded;
    if (may_hide && block >= work.range.first_masked) mask.apply(scores, first_query, first_key);
    Accumulator<1, 1> factor;
#pragma unroll
    for (float& entry : factor.value[0][0]) entry = 1.0f;
    softmax.absorb(scores, factor, parameters.scale_log2, block);
    return factor;
  }

  /// Until the values of `block` may be multiplied.
  void wait_values(const Work<Config>& work, int block) {
    wait_full(shared.value_ring, values);
    if (!Tiles::kGuarded || block < work.range.first_masked) return;
    if (shared.nonfinite[values.slot] != 0) found_nonfinite = true;
    sync_warp();  // lane 0 will release the slot for all of them
  }

  void rescale(const Accumulator<1, 1>& factor) {
    const bool moved = factor.value[0][0][0] != 1.0f || factor.value[0][0][2] != 1.0f;
    if (!warp_any(moved)) return;
#pragma unroll
    for (int c = 0; c < Output::kColumnTiles; ++c) {
#pragma unroll
      for (int i = 0; i < 4; ++i) output.value[0][c][i] *= factor.value[0][0][i];
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
      const int first_query = work.first_query + kWarpgroupRows * team;
      const int last_query = minimum(first_query + kWarpgroupRows, work.sequence.query_length) - 1;
      const int seen = last_query < first_query ? 0 : work.sequence.causal_keys(last_query);
#pragma unroll 1
      for (; block >= work.range.begin && block * Config::kTileN >= seen; --block) pass();
    }
    return block;
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
    finish_store();
    wait_scores<0>(chains);
    exponentiate<true>(scores, mask, work, block);
    round(scores);
#pragma unroll 1
    while (--block >= work.range.begin) {
      wait_full(shared.key_ring, keys);
      turns.take();
      multiply_query_key(chains);
      wait_values(work, block + 1);
      multiply_probability_value();
      turns.give();
      softmax.settle(block, parameters.scale_log2);
      wait_scores<1>(chains);
      const auto factor = exponentiate<false>(scores, mask, work, block);
      wait_output();
      rescale(factor);
      round(scores);
    }
    leave_tile();
    wait_values(work, work.range.begin);
    multiply_probability_value();
    wait_output();
    if constexpr (Config::kCheckedSum) {
      LostBlocks<Config>(parameters, work, work.first_query + warp_row()).make_up(softmax, output);
    }
  }

  /// The tile's queries are no longer needed, unless their slot is to take its output.
  void leave_tile() {
    if constexpr (Config::kPersistent) ring_guard();
    if constexpr (Config::kTmaStore) return;
    tiles.advance();
    tiles.release();
  }

  /// Normalises the rows; returns their log-sum-exps.
  void normalise(float (&log_sum_exps)[2]) {
    softmax.finish();
#pragma unroll
    for (int row = 0; row < 2; ++row) {
      log_sum_exps[row] =
          warpgroup_log_sum_exp<Config>(parameters, softmax.reference[row], softmax.sum[row]);
      const float inverse_sum = softmax.inverse_sum(row);
#pragma unroll
      for (int c = 0; c < Output::kColumnTiles; ++c) {
        output.value[0][c][2 * row] *= inverse_sum;
        output.value[0][c][2 * row + 1] *= inverse_sum;
      }
    }
  }

  /// Stores the rows and their log-sum-exp.
  void store(const Work<Config>& work) {
    const WorkItem& item = work.item;
    const int first_query = work.first_query + warp_row();
    const int valid_rows = work.sequence.query_length - first_query;
    float log_sum_exps[2];
    normalise(log_sum_exps);
    Element* destination =
        tensor_row<Element>(parameters.output, item.batch, item.head, first_query);
    const long long row_stride = parameters.output.row_stride;
    if constexpr (Config::kTmaStore) {
      start_store(work);
    } else {
      store_fragment_rows<Config>(output, destination, row_stride, valid_rows);
    }
    if (found_nonfinite) {
      if constexpr (Config::kTmaStore) wait_store();
      const Mask<Config> mask{work.sequence, item};
      add_nonfinite_to_rows(destination, row_stride, first_query, work.range, mask, parameters);
    }
    if (parameters.log_sum_exp == nullptr) return;
    const long long row = flat_row(parameters, item.batch, item.head, first_query);
    store_rows(log_sum_exps, parameters.log_sum_exp + row, valid_rows);
  }

  /// Whether this thread speaks to the TMA for its team.
  bool stores() const {
    return warp() % 4 == 0 && lane() == 0;
  }

  /// The team's rows of Q make room for those of O, which the TMA takes from there.
  void start_store(const Work<Config>& work) {
    finish_store();  // of a tile before one without keys
    unsigned char* tile = shared.query[tiles.slot()];
    stage_fragment_rows<Element>(output, tile, Tiles::kQueryTile, warp_row());
    fence_async_shared();
    sync_team(kFirstStoreBarrier + team, kWarpgroupWarps * kWarpSize);
    const int first_query = work.first_query + kWarpgroupRows * team;
    if (stores() && first_query < work.sequence.query_length) {
      const int block_bytes = Tiles::kQueryTile.block_bytes();
#pragma unroll
      for (int c = 0; c < Tiles::kColumnBlocks; ++c) {
        store_tile(maps.output, {kBoxColumns * c, first_query, work.item.head, work.item.batch},
                   tile + c * block_bytes + 128 * kWarpgroupRows * team);
      }
      store_commit();
    }
    tiles.advance();
    is_storing = true;
    // With one slot the next tile's queries wait for this one's.
    if constexpr (Config::kQueryStages == 1) finish_store();
  }

  /// The slot of the tile stored last is free once it has been read.
  void finish_store() {
    if constexpr (Config::kTmaStore) {
      if (!is_storing) return;
      is_storing = false;
      if (stores()) store_wait_read<0>();
      tiles.release();
    }
  }

  /// Until the rows are in global memory, for all of the team to see.
  void wait_store() {
    if (stores()) store_wait<0>();
    sync_team(kFirstStoreBarrier + team, kWarpgroupWarps * kWarpSize);
  }
};

template <class Config>
inline void consume(const MappedParameters& parameters, SharedStorage<Config>& shared, int team) {
  Consumer<Config> consumer(shared, parameters, team);
  consumer.ring_guard();
  WorkItem item;
  while (consumer.tiles.next(item)) {
    const Work<Config> work(parameters.attention, item);
    consumer.output.clear();
    consumer.softmax.clear();
    consumer.found_nonfinite = false;
    if (work.is_empty()) {
      consumer.leave_tile();
    } else {
      consumer.attend(work);
    }
    consumer.store(work);
    if constexpr (!Config::kPersistent) break;
  }
  consumer.finish_store();
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
  if (team == kTeams) {
    if constexpr (kRegisters.producer > 0) decrease_registers<kRegisters.producer>();
    supply(parameters, shared);
  } else {
    if constexpr (kRegisters.consumer > 0) increase_registers<kRegisters.consumer>();
    consume(parameters, shared, team);
  }
}

}  // namespace heddle::fa3
