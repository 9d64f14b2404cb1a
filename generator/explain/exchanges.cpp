// The barriers of the templates, counted. tests/host/barrier_test.cpp holds the counts against
// kernels that run on the host.
#include "generator/explain/warp_roles.hpp"

#include <fmt/format.h>

#include "templates/layout.cuh"
#include "templates/warpgroup_layout.cuh"

namespace heddle {
namespace {

constexpr int kWarpThreads = 32;
constexpr int kFloatBytes = 4;

Exchange block_barrier(const std::string& name, int times, Period period, int threads,
                       const std::string& what) {
  return {name, BarrierKind::kBlock, times, period, threads, what};
}

Exchange without_barrier(const std::string& name, Period period, int threads,
                         const std::string& what) {
  return {name, BarrierKind::kNone, 0, period, threads, what};
}

/// templates/part/load_ahead.cuh and key_value_loader.cuh: with one stage a tile is asked for
/// behind one barrier and there behind another.
Exchange tiles_arrive(const KernelConfig& config, int threads, const std::string& tiles) {
  return block_barrier("tiles", config.stages == 1 ? 2 : 1, Period::kKeyTile, threads,
                       tiles + " have landed, and the stage to be filled next is no longer read");
}

/// Keys that a tile hides must not poison its product: templates/part/sanitize.cuh.
Exchange finite_vote(Period period, int threads) {
  return block_barrier(
      "vote", 1, period, threads,
      "only where the mask or the end of the keys cuts a tile: threads vote whether "
      "all of the output is finite; if not, the keys are walked once more");
}

/// Lanes in fours share a row of a fragment.
Exchange row_shuffles(int threads) {
  return without_barrier("shuffles between the 4 lanes that share a row", Period::kKeyTile, threads,
                         "row maxima and, once, row sums; warps exchange nothing");
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
  const long long row_values = 1LL * config.tile_m * key_warps * kFloatBytes;
  // Each warp sends the column tiles of a round that it does not own.
  const long long partials = 1LL * config.tile_m * column_tiles * 8 * kFloatBytes * (key_warps - 1);
  std::vector<Exchange> list{
      block_barrier("tiles", 3, Period::kKeyTile, threads,
                    "K has landed; V has landed; K is no longer read"),
      {"maxima", BarrierKind::kNamed, steps, Period::kKeyTile, team_threads,
       "row maxima of each warp's keys, so that all use the largest", teams, row_values},
      {"partial outputs", BarrierKind::kNamed, steps * rounds, Period::kKeyTile, team_threads,
       "P V of each warp's keys, 8 columns for each warp a round; row sums with the first", teams,
       partials + row_values}};
  if (rounds == 1) {
    list.push_back({"statistics", BarrierKind::kNamed, steps, Period::kKeyTile, team_threads,
                    "maxima and sums have been read", teams});
  }
  list.push_back(block_barrier(
      "query tile", 4, Period::kQueryTile, threads,
      "the tile before is stored; row sums are complete; O is gathered for the store; it is "
      "stored"));
  list.push_back(finite_vote(Period::kQueryTile, threads));
  return list;
}

std::vector<Exchange> fa2(const KernelConfig& config, int threads) {
  std::vector<Exchange> list{tiles_arrive(config, threads, "K and V tiles"), row_shuffles(threads)};
  if (config.query_in_registers) {
    list.push_back(block_barrier("queries", 1, Period::kBlock, threads,
                                 "Q has landed; each warp takes its rows into registers"));
  }
  list.push_back(finite_vote(Period::kBlock, threads));
  return list;
}

/// templates/part/barrier_ring.cuh: what loads and consumers of K and V tell each other.
void add_rings(std::vector<Exchange>& list, const Variant& variant, const KernelConfig& config) {
  const int consumers = config.warps * kWarpThreads;
  const char* const values =
      transposes_values(variant) ? "the V tile is transposed" : "the TMA has written the V tile";
  list.push_back({"full, of a stage of K", BarrierKind::kMbarrier, 1, Period::kKeyTile, consumers,
                  "the TMA has written the K tile"});
  list.push_back(
      {"full, of a stage of V", BarrierKind::kMbarrier, 1, Period::kKeyTile, consumers, values});
  list.push_back(
      {"empty, of a stage of K and of V", BarrierKind::kMbarrier, 2, Period::kKeyTile, 1,
       fmt::format(
           "one arrival of each of the {} consumer warps: they have done with the stage; a thread "
           "of the {} waits, and fills it again",
           config.warps, config.warp_specialized ? "producer" : "loading warp")});
}

/// templates/part/value_guard.cuh, redo_list.cuh, guard_bell.cuh and value_transposer.cuh. Of
/// values that are finite.
void add_helpers(std::vector<Exchange>& list, const Variant& variant, const KernelConfig& config) {
  const int threads = kGuardWarps * kWarpThreads;
  if (transposes_values(variant)) {
    list.push_back({"V in rows", BarrierKind::kMbarrier, 1, Period::kKeyTile, threads,
                    "the TMA has written a V tile in rows"});
    list.push_back(
        {"helpers", BarrierKind::kNamed, 1, Period::kKeyTile, threads, "the V tile is transposed"});
  } else if (variant.mask == MaskKind::kCausal) {
    if (!watches_outputs(variant, config)) {
      list.push_back({"masked V", BarrierKind::kMbarrier, 1, Period::kMaskedKeyTile, threads,
                      "the TMA has written a V tile of which rows may not see all"});
      list.push_back({"helpers", BarrierKind::kNamed, 1, Period::kMaskedKeyTile, threads,
                      "whether it holds NaN or Inf, before consumers multiply it"});
    } else {
      list.push_back({"outputs looked at", BarrierKind::kMbarrier, 1, Period::kBlock,
                      fa3_warps(config) * kWarpThreads,
                      "whether NaN or Inf among values has spoilt a tile: those are done again, "
                      "helpers clearing their masked V tiles first"});
    }
    list.push_back({"start of a tile, for the helpers", BarrierKind::kNamed, 1, Period::kQueryTile,
                    threads + kWarpgroupWarps * kWarpThreads,
                    "the first warpgroup lets them look at the next tile's values"});
  }
}

/// templates/kernel/fa3.cuh, part/turns.cuh and fa3_store.cuh.
std::vector<Exchange> fa3(const Variant& variant, const KernelConfig& config) {
  const int teams = config.tile_m / kWarpgroupRows;
  const int team_threads = kWarpgroupWarps * kWarpThreads;
  const int threads = fa3_warps(config) * kWarpThreads;
  std::vector<Exchange> list;
  add_rings(list, variant, config);
  if (config.ping_pong) {
    list.push_back({"turns, from warpgroup to warpgroup", BarrierKind::kNamed, 1, Period::kKeyTile,
                    2 * team_threads,
                    "the other has started its products: this one starts its own, and they run "
                    "while the other's softmax does",
                    teams});
  }
  add_helpers(list, variant, config);
  list.push_back({"full and empty, of a slot of Q", BarrierKind::kMbarrier, 2, Period::kQueryTile,
                  threads, "which query tile is next, and its rows; the slot may be filled again"});
  if (config.tma_store) {
    list.push_back({"store, of each warpgroup", BarrierKind::kNamed, 1, Period::kQueryTile,
                    team_threads, "O lies in the slot of Q, for the TMA to store", teams});
  }
  if (config.scheduler != TileScheduler::kTilePerBlock) {
    list.push_back({"end of a store, of each warpgroup", BarrierKind::kNamed, 1, Period::kQueryTile,
                    team_threads, "its warps go on as one", teams});
  }
  list.push_back(
      block_barrier("start", 1, Period::kBlock, threads, "the mbarriers are initialised"));
  list.push_back(row_shuffles(config.warps * kWarpThreads));
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
      return {without_barrier("shuffles, for rows that one warp holds; longer ones take barriers",
                              Period::kBlock, threads, "maximum and sum of a row")};
    case KernelPart::kUnfusedOutput:
      return {tiles_arrive(config, threads, "P and V tiles"), finite_vote(Period::kBlock, threads),
              block_barrier("store", 2, Period::kBlock, threads, "O is gathered for the store")};
    case KernelPart::kSplitCombine:
      return {without_barrier("shuffles within a warp", Period::kBlock, threads,
                              "largest base of the exponents and total weight of the row's parts")};
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
