#pragma once
// FlashAttention-3 (sm_90a): one warp fills rings of K and V by TMA, warpgroups of 64 query rows
// each multiply by wgmma. While a warpgroup's softmax of one key block runs, its Q K^T of the next
// and its P V of the block before are on the tensor cores. Blocks are walked from the last, which
// needs a mask, to the first.

#include "instruction/fence.cuh"
#include "instruction/setmaxnreg.cuh"
#include "part/epilogue.cuh"
#include "part/mask.cuh"
#include "part/softmax.cuh"
#include "part/tma_producer.cuh"
#include "part/warpgroup_log_sum_exp.cuh"
#include "part/warpgroup_sanitize.cuh"
#include "part/warpgroup_store.cuh"
#include "part/warpgroup_tile.cuh"

namespace heddle::fa3 {

/// Named barrier of the consumers.
constexpr int kConsumerBarrier = 1;

template <class Config>
struct Consumer {
  using Element = typename Config::Element;
  using Tiles = Shape<Config>;
  using Scores = Accumulator<1, Config::kTileN / 8>;
  using Output = Accumulator<1, Config::kHeadDimPadded / 8>;
  static constexpr int kSteps = Config::kTileN / 16;

  SharedStorage<Config>& shared;
  const AttentionParameters& parameters;
  int team;  ///< this warpgroup
  RingPlace<Config::kQueryStages> query;
  RingPlace<Config::kStages> keys;
  RingPlace<Config::kStages> values;

  Output output;
  OnlineSoftmax<1, Config::kLazyRescale> softmax;
  unsigned probability[kSteps][4];
  int vote_turn = 0;
  bool found_nonfinite;  ///< in a masked value block of the tile

  Consumer(SharedStorage<Config>& storage, const AttentionParameters& launch, int index)
      : shared(storage), parameters(launch), team(index) {}

  /// First row of this warp within the tile.
  int warp_row() const { return kWarpgroupRows * team + 16 * (warp() % 4); }

  /// Starts scores = Q K^T.
  void multiply_query_key(float (&scores)[Config::kTileN / 2]) {
    const auto a = matrix_descriptor(shared.query[query.slot] + kWarpgroupRows * 128 * team,
                                     k_major_layout(Tiles::kQueryTile));
    const auto b =
        matrix_descriptor(shared.key[uniform(keys.slot)], k_major_layout(Tiles::kKeyTile));
    wgmma_fence();
    wgmma_set<Major::kK, Major::kK>(scores, a, b, Element{});
#pragma unroll
    for (int step = 1; step < Config::kHeadDimPadded / 16; ++step) {
      wgmma_add<Major::kK, Major::kK>(
          scores, advance(a, k_major_step_bytes(Tiles::kQueryTile, step)),
          advance(b, k_major_step_bytes(Tiles::kKeyTile, step)), Element{});
    }
    wgmma_commit();
  }

  /// Starts output += P V.
  void multiply_probability_value(float (&sums)[Config::kHeadDimPadded / 2]) {
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

  void round(const Scores& scores) {
#pragma unroll
    for (int i = 0; i < 4 * kSteps; ++i) {
      const float* pair = &scores.value[0][i / 2][2 * (i % 2)];
      probability[i / 4][i % 4] = pack(pair[0], pair[1], Element{});
    }
  }

  /// The block's softmax. Returns what the output has to be multiplied by, for each of the thread's
  /// rows: a product is still adding to it.
  Accumulator<1, 1> exponentiate(Scores& scores, const Mask<Config>& mask, const Work<Config>& work,
                                 int block) {
    const int first_query = work.first_query + warp_row();
    const int first_key = block * Config::kTileN;
    mask.apply_score_hook(scores, parameters.scale, first_query, first_key);
    if (block >= work.range.first_masked) mask.apply(scores, first_query, first_key);
    Accumulator<1, 1> factor;
#pragma unroll
    for (float& entry : factor.value[0][0]) entry = 1.0f;
    softmax.follow(scores, factor, parameters.scale_log2);
    softmax.exponentiate(scores, parameters.scale_log2);
    return factor;
  }

  /// Until the values of `block` may be multiplied.
  void wait_values(const Work<Config>& work, int block) {
    wait_full(shared.value_ring, values);
    // Without a causal mask only keys past the end are hidden, and for those TMA brings zeros.
    if constexpr (Config::kCausal || Config::kMaskHook) {
      if (block < work.range.first_masked) return;
      if (sanitize_tile<Element>(shared.value[values.slot], Tiles::kKeyBytes, shared.votes,
                                 vote_turn, kConsumerBarrier)) {
        found_nonfinite = true;
      }
      vote_turn ^= 1;
    }
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

  /// All key blocks of a tile that has some; leaves the unnormalised output.
  void attend(const Work<Config>& work) {
    const Mask<Config> mask{work.sequence, work.item};
    Scores scores;
    auto& score_registers = registers_of(scores);
    auto& output_registers = registers_of(output);
    wait_full(shared.query_ring, query);
    wait_full(shared.key_ring, keys);
    multiply_query_key(score_registers);
    wgmma_wait<0>(score_registers);
    release(shared.key_ring, keys);
    keys.next();
    exponentiate(scores, mask, work, work.range.end - 1);
    round(scores);
#pragma unroll 1
    for (int block = work.range.end - 2; block >= work.range.begin; --block) {
      wait_full(shared.key_ring, keys);
      multiply_query_key(score_registers);
      wait_values(work, block + 1);
      multiply_probability_value(output_registers);
      wgmma_wait<1>(score_registers);
      release(shared.key_ring, keys);
      keys.next();
      const auto factor = exponentiate(scores, mask, work, block);
      wgmma_wait<0>(output_registers, probability);
      release(shared.value_ring, values);
      values.next();
      rescale(factor);
      round(scores);
    }
    release(shared.query_ring, query);
    query.next();
    wait_values(work, work.range.begin);
    multiply_probability_value(output_registers);
    wgmma_wait<0>(output_registers, probability);
    release(shared.value_ring, values);
    values.next();
  }

  /// Normalises the rows and stores them and their log-sum-exp.
  void store(const Work<Config>& work) {
    const WorkItem& item = work.item;
    const int first_query = work.first_query + warp_row();
    const int valid_rows = work.sequence.query_length - first_query;
    softmax.finish();
    float log_sum_exps[2];
#pragma unroll
    for (int row = 0; row < 2; ++row) {
      log_sum_exps[row] = warpgroup_log_sum_exp<Config>(softmax.reference[row], softmax.sum[row]);
      const float inverse_sum = softmax.inverse_sum(row);
#pragma unroll
      for (int c = 0; c < Output::kColumnTiles; ++c) {
        output.value[0][c][2 * row] *= inverse_sum;
        output.value[0][c][2 * row + 1] *= inverse_sum;
      }
    }
    Element* destination =
        tensor_row<Element>(parameters.output, item.batch, item.head, first_query);
    const long long row_stride = parameters.output.row_stride;
    store_fragment_rows<Config>(output, destination, row_stride, valid_rows);
    if (found_nonfinite) {
      const Mask<Config> mask{work.sequence, item};
      add_nonfinite_to_rows(destination, row_stride, first_query, work.range, mask, parameters);
    }
    if (parameters.log_sum_exp == nullptr) return;
    const long long row = flat_row(parameters, item.batch, item.head, first_query);
    store_rows(log_sum_exps, parameters.log_sum_exp + row, valid_rows);
  }
};

template <class Config>
inline void consume(const AttentionParameters& parameters, SharedStorage<Config>& shared,
                    int team) {
  Consumer<Config> consumer(shared, parameters, team);
  for (TileWalk<Config> walk(parameters); walk.more(); walk.next()) {
    const Work<Config> work(parameters, walk.item());
    consumer.output.clear();
    consumer.softmax.clear();
    consumer.found_nonfinite = false;
    if (!work.is_empty()) consumer.attend(work);
    consumer.store(work);
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
    shared.query_ring.init(kWarpgroupWarps * kTeams);
    shared.key_ring.init(kWarpgroupWarps * kTeams);
    shared.value_ring.init(kWarpgroupWarps * kTeams);
    fence_barrier_init();
  }
  sync_block();
  const int team = uniform(warp() / 4);
  if (team == kTeams) {
    if constexpr (kRegisters.producer > 0) decrease_registers<kRegisters.producer>();
    if (warp() % 4 == 0 && elect_one()) produce(parameters, shared);
  } else {
    if constexpr (kRegisters.consumer > 0) increase_registers<kRegisters.consumer>();
    consume(parameters.attention, shared, team);
  }
}

}  // namespace heddle::fa3
