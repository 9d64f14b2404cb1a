// The barriers of the templates, counted.
#include <fmt/format.h>

#include "generator/explain/warp_roles.hpp"
#include "templates/layout.cuh"
#include "templates/warpgroup_layout.cuh"

namespace heddle {
namespace {

constexpr int kWarpThreads = 32;
constexpr int kFloatBytes = 4;

const char* const kBlockBarrier = "block barrier (__syncthreads)";

/// templates/part/load_ahead.cuh and key_value_loader.cuh: with one stage a tile is asked for
/// behind one barrier and there behind another.
Exchange tiles_arrive(const KernelConfig& config, int threads, const std::string& tiles) {
  return {kBlockBarrier,
          config.stages == 1 ? 2 : 1,
          Period::kKeyTile,
          threads,
          tiles + " have landed, and the stage to be filled next is no longer read",
          0};
}

/// Lanes in fours share a row of a fragment.
Exchange row_shuffles(int threads) {
  return {"none: shuffles between the 4 lanes that share a row",    0, Period::kKeyTile, threads,
          "row maxima and, once, row sums; warps exchange nothing", 0};
}

/// Keys that a tile hides must not poison its product: templates/part/sanitize.cuh.
Exchange finite_vote(Period period, int threads) {
  return {
      "block vote (__syncthreads_or)",
      1,
      period,
      threads,
      "only where the mask or the end of the keys cuts a tile: whether the output is finite; if "
      "not, the keys are walked once more",
      0};
}

/// templates/part/key_split.cuh, split_softmax.cuh and key_value_walk.cuh.
std::vector<Exchange> fa1(const Variant& variant, const KernelConfig& config) {
  const int key_warps = fa1_key_warps(config.warps);
  const int teams = config.warps / key_warps;
  const int steps = config.tile_m / teams / kFa1StepRows;
  const int column_tiles = padded_head_dim(variant.head_dim) / 8;
  const int rounds = (column_tiles + key_warps - 1) / key_warps;
  const int team_threads = key_warps * kWarpThreads;
  const int threads = config.warps * kWarpThreads;
  // Each warp sends the column tiles of a round that it does not own.
  const long long partials = 1LL * config.tile_m * column_tiles * 8 * kFloatBytes * (key_warps - 1);
  const std::string team = teams > 1 ? "team barrier (named)" : "barrier of the warps (named)";
  std::vector<Exchange> list{
      {kBlockBarrier, 3, Period::kKeyTile, threads,
       "K has landed; V has landed; K is no longer read", 0},
      {team, steps, Period::kKeyTile, team_threads,
       "row maxima of each warp's keys, so that all use the largest",
       1LL * config.tile_m * key_warps * kFloatBytes},
      {team, steps * rounds, Period::kKeyTile, team_threads,
       fmt::format("partial outputs P V of each warp's keys, {} columns to each warp a round; row "
                   "sums with the first",
                   8),
       partials + 1LL * config.tile_m * key_warps * kFloatBytes}};
  if (rounds == 1) {
    list.push_back(
        {team, steps, Period::kKeyTile, team_threads, "maxima and sums have been read", 0});
  }
  list.push_back({kBlockBarrier, 3, Period::kQueryTile, threads,
                  "the tile before is stored; row sums are complete; O is gathered for the store",
                  0});
  list.push_back(finite_vote(Period::kQueryTile, threads));
  return list;
}

std::vector<Exchange> fa2(const KernelConfig& config, int threads) {
  std::vector<Exchange> list{tiles_arrive(config, threads, "K and V tiles"), row_shuffles(threads)};
  if (config.query_in_registers) {
    list.push_back({kBlockBarrier, 1, Period::kBlock, threads,
                    "Q has landed; each warp takes its rows into registers", 0});
  }
  list.push_back(finite_vote(Period::kBlock, threads));
  return list;
}

/// templates/part/barrier_ring.cuh, turns.cuh, value_guard.cuh, value_transposer.cuh,
/// fa3_store.cuh.
std::vector<Exchange> fa3(const Variant& variant, const KernelConfig& config) {
  const int teams = config.tile_m / kWarpgroupRows;
  const bool guarded = variant.mask == MaskKind::kCausal;
  const bool transposes = transposes_values(variant);
  const int consumer_warps = kWarpgroupWarps * teams;
  const int team_threads = kWarpgroupWarps * kWarpThreads;
  const int threads = fa3_warps(config) * kWarpThreads;
  const std::string loader = config.warp_specialized ? "producer" : "loading warp";
  std::vector<Exchange> list{
      {"full, of a slot of K (mbarrier)", 1, Period::kKeyTile, consumer_warps * kWarpThreads,
       "the TMA has written the K tile", 0},
      {"full, of a slot of V (mbarrier)", 1, Period::kKeyTile, consumer_warps * kWarpThreads,
       transposes ? "the V tile is transposed" : "the TMA has written the V tile", 0},
      {"empty, of a slot of K and of V (mbarrier)", 2, Period::kKeyTile, 1,
       fmt::format("each of {} consumer warps has done with the slot; the {} fills it again",
                   consumer_warps, loader),
       0}};
  if (config.ping_pong) {
    list.push_back({"turn (named, from team to team)", 1, Period::kKeyTile, 2 * team_threads,
                    "the other team has started its products: this one starts its own, and they "
                    "run while the other's softmax does",
                    0});
  }
  if (transposes) {
    list.push_back({"rows have landed (mbarrier); helpers' barrier (named)", 2, Period::kKeyTile,
                    kGuardWarps * kWarpThreads, "V in rows is there; V transposed is written", 0});
  } else if (guarded) {
    list.push_back({"landed (mbarrier); helpers' barrier (named)", 2, Period::kMaskedKeyTile,
                    kGuardWarps * kWarpThreads,
                    "whether hidden values hold NaN or Inf, before consumers multiply them", 0});
  }
  list.push_back({"full and empty, of a slot of Q (mbarrier)", 2, Period::kQueryTile, threads,
                  "which query tile is next, and its rows; the slot may be filled again", 0});
  if (config.tma_store) {
    list.push_back({"store barrier of each team (named)", 1, Period::kQueryTile, team_threads,
                    "O lies in the slot of Q, for the TMA to store", 0});
  }
  list.push_back({kBlockBarrier, 1, Period::kBlock, threads, "mbarriers are initialised", 0});
  list.push_back(row_shuffles(consumer_warps * kWarpThreads));
  return list;
}

}  // namespace

std::vector<Exchange> exchanges_of(const Variant& variant, const KernelConfig& config,
                                   KernelPart part) {
  const int threads = part_footprint(variant, config, part).threads;
  switch (part) {
    case KernelPart::kUnfusedScores:
      return {tiles_arrive(config, threads, "K tiles")};
    case KernelPart::kUnfusedSoftmax:
      return {{"none for rows that a warp holds; named or block barriers for longer ones", 0,
               Period::kBlock, threads, "maximum and sum of a row that warps share", 0}};
    case KernelPart::kUnfusedOutput:
      return {tiles_arrive(config, threads, "P and V tiles"),
              finite_vote(Period::kBlock, threads),
              {kBlockBarrier, 2, Period::kBlock, threads, "O is gathered for the store", 0}};
    case KernelPart::kSplitCombine:
      return {{"none: shuffles within a warp", 0, Period::kBlock, threads,
               "largest base and total weight of the row's parts", 0}};
    case KernelPart::kFa1Attention:
      return fa1(variant, config);
    case KernelPart::kFa2Attention:
      return fa2(config, threads);
    case KernelPart::kFa3Attention:
      return fa3(variant, config);
    case KernelPart::kReference:
      break;
  }
  return {};
}

}  // namespace heddle
