#pragma once
// What a team of fa3 consumers multiplies, on the rings of K and V: two products that wgmma starts
// and that are waited for apart.

#include "part/fa3_shared.cuh"
#include "part/fragment.cuh"
#include "part/team_loader.cuh"
#include "part/warpgroup_tile.cuh"

namespace heddle::fa3 {

template <class Config>
struct TeamProducts {
  using Element = typename Config::Element;
  using Tiles = Shape<Config>;
  using Scores = Accumulator<1, Config::kTileN / 8>;
  using Output = Accumulator<1, Config::kHeadDim / 8>;
  static constexpr bool kBytes = Config::kScaledInputs;
  static constexpr int kStepDepth = kBytes ? 32 : 16;
  static constexpr int kDepthSteps = Config::kHeadDimPadded / kStepDepth;
  static constexpr int kChainSteps =
      kBytes ? kDepthSteps : wgmma_chain_steps(Config::kHeadDimPadded);
  static constexpr int kChains = kBytes ? 1 : wgmma_score_chains(Config::kHeadDimPadded);
  static constexpr int kSteps = Config::kTileN / kStepDepth;

  SharedStorage<Config>& shared;
  int team;  ///< this warpgroup
  TeamLoader<Config> loader;
  RingPlace<Config::kStages> keys;
  RingPlace<Config::kStages> values;

  unsigned probability[kSteps][4];

  TeamProducts(SharedStorage<Config>& storage, const MappedParameters& launch, int index)
      : shared(storage), team(index), loader(launch, storage, index) {}

  /// Starts the chains of Q K^T, Q being in a slot of the tile queue.
  void multiply_query_key(Scores (&chains)[kChains], int query_slot) {
    const auto a =
        matrix_descriptor(shared.query[uniform(query_slot)] + kWarpgroupRows * Tiles::kSpan * team,
                          k_major_layout(Tiles::kQueryTile));
    const auto b =
        matrix_descriptor(shared.key[uniform(keys.slot())], k_major_layout(Tiles::kKeyTile));
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
    release_keys();
    loader.keys_released();
  }

  /// Probabilities as the next product takes them.
  void round(const Scores& scores) {
#pragma unroll
    for (int i = 0; i < 4 * kSteps; ++i) {
      if constexpr (kBytes) {
        // Keys of V are in the order that makes these a thread's own (wgmma_8bit_key).
        const float(&left)[4] = scores.value[0][wgmma_8bit_first_accumulator(i) / 4];
        const float(&right)[4] = scores.value[0][wgmma_8bit_first_accumulator(i) / 4 + 1];
        const int half = 2 * (i % 2);
        probability[i / 4][i % 4] =
            pack(left[half], left[half + 1], right[half], right[half + 1], Element{});
      } else {
        const float* pair = &scores.value[0][i / 2][2 * (i % 2)];
        probability[i / 4][i % 4] = pack(pair[0], pair[1], Element{});
      }
    }
  }

  /// Starts output += P V.
  void multiply_probability_value(Output& output) {
    auto& sums = registers_of(output);
    constexpr Major kMajor = kBytes ? Major::kK : Major::kMn;
    constexpr MatrixLayout kLayout = kMajor == Major::kK ? k_major_layout(Tiles::kValueTile)
                                                         : mn_major_layout(Tiles::kValueTile);
    const auto b = matrix_descriptor(shared.value[uniform(values.slot())], kLayout);
    wgmma_fence(sums, probability);
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      const int at = kMajor == Major::kK ? k_major_step_bytes(Tiles::kValueTile, step)
                                         : mn_major_step_bytes(Tiles::kValueTile, step);
      wgmma_add<kMajor>(sums, probability[step], advance(b, at), Element{});
    }
    wgmma_commit();
  }

  void wait_output(Output& output) {
    wgmma_wait<0>(registers_of(output), probability);
    release_values();
    loader.values_released();
  }

  /// Until what the ring brings next is there.
  void wait_keys() {
    wait_full(shared.key_ring, keys);
  }
  void wait_values() {
    wait_full(shared.value_ring, values);
  }

  void release_keys() {
    release(shared.key_ring, keys);
    keys.next();
  }
  void release_values() {
    release(shared.value_ring, values);
    values.next();
  }
};

}  // namespace heddle::fa3
