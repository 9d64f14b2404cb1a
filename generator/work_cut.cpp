#include "generator/work_cut.hpp"

#include <algorithm>

#include "generator/ceil_div.hpp"
#include "generator/kernel_part.hpp"

namespace heddle {
namespace {

/// Splitting further than this only adds combine traffic.
constexpr int kMaxAutomaticSplits = 128;
/// A split shorter than this many keys spends more on its prologue than on its keys.
constexpr int kMinSplitKeys = 256;

/// Heads that share a KV head, in packs of about equal size, none with more than a tile has rows.
/// Heads that are one, by stride 0, are no axis of a map, and stay apart.
int packed_heads(const Problem& problem, const KernelConfig& config) {
  const Sizes& sizes = problem.sizes;
  const int group = sizes.heads / sizes.resolved_kv_heads();
  const Strides strides =
      resolved_strides(sizes.query_strides, sizes.heads, sizes.seqlen_q, problem.variant.head_dim);
  if (!config.pack_gqa || strides.head == 0) return 1;
  return static_cast<int>(ceil_div(group, ceil_div(group, config.tile_m)));
}

/// Enough splits that the grid fills the device once at the occupancy shared memory allows, but
/// never a split without a key tile.
int splits_that_fill(const Problem& problem, const KernelConfig& config, long long query_tiles,
                     const DeviceLimits& limits) {
  const auto footprint = part_footprint(problem.variant, config, KernelPart::kFa2Attention);
  const int by_shared = limits.shared_bytes_per_sm / std::max(footprint.shared_bytes + 1024, 1);
  const int by_threads = limits.threads_per_sm / footprint.threads;
  const int by_registers = limits.registers_per_sm / (footprint.threads * 255);
  const int resident =
      std::clamp(std::min({by_shared, by_threads, std::max(by_registers, 1)}), 1, 4);
  const long long slots = static_cast<long long>(limits.sm_count) * resident;
  const long long wanted = slots / std::max(query_tiles, 1LL);
  const long long by_keys = std::max(1, problem.sizes.seqlen_kv / kMinSplitKeys);
  return static_cast<int>(
      std::clamp(std::min(wanted, by_keys), 1LL, static_cast<long long>(kMaxAutomaticSplits)));
}

/// Splits for blocks that fill an SM each. With so many waves of blocks there can be so many
/// splits; the shortest way through wins, where a split costs as long as some keys take beside its
/// own.
int splits_of_waves(const Problem& problem, const KernelConfig& config, long long query_tiles,
                    const DeviceLimits& limits) {
  constexpr int kMostWaves = 6;
  constexpr long long kSplitCost = 256;  // keys
  const long long keys = problem.sizes.seqlen_kv;
  const long long most = std::clamp<long long>(keys / kMinSplitKeys, 1, kMaxAutomaticSplits);
  const long long fewest_waves = ceil_div(query_tiles, limits.sm_count);
  long long best = 1;
  long long best_cost = fewest_waves * (keys + kSplitCost);
  for (long long waves = fewest_waves; waves < fewest_waves + kMostWaves; ++waves) {
    const long long splits = std::min(waves * limits.sm_count / query_tiles, most);
    const long long tiles = ceil_div(ceil_div(keys, splits), config.tile_n);
    const long long cost = waves * (tiles * config.tile_n + kSplitCost);
    if (cost < best_cost) best = splits, best_cost = cost;
  }
  return static_cast<int>(best);
}

}  // namespace

QueryCut cut_queries(const Problem& problem, const KernelConfig& config) {
  const Sizes& sizes = problem.sizes;
  QueryCut cut;
  cut.packed_heads = packed_heads(problem, config);
  cut.tile_queries = config.tile_m / cut.packed_heads;
  cut.query_tiles = static_cast<int>(ceil_div(sizes.seqlen_q, cut.tile_queries));
  const long long packs = sizes.resolved_kv_heads() *
                          ceil_div(sizes.heads / sizes.resolved_kv_heads(), cut.packed_heads);
  cut.tiles = sizes.batch * packs * cut.query_tiles;
  return cut;
}

KeySplit split_keys(const Problem& problem, const KernelConfig& config, long long query_tiles,
                    const DeviceLimits& limits) {
  const Sizes& sizes = problem.sizes;
  const int key_tiles = static_cast<int>(ceil_div(sizes.seqlen_kv, config.tile_n));
  if (!config.split_kv) return {1, key_tiles};
  // An explicit count is honoured even where some splits end up without keys.
  if (sizes.num_splits > 0) {
    return {sizes.num_splits, static_cast<int>(ceil_div(key_tiles, sizes.num_splits))};
  }
  const int splits = config.family == Family::kFa3
                         ? splits_of_waves(problem, config, query_tiles, limits)
                         : splits_that_fill(problem, config, query_tiles, limits);
  const int split_tiles = static_cast<int>(std::max(1LL, ceil_div(key_tiles, splits)));
  return {static_cast<int>(std::max(1LL, ceil_div(key_tiles, split_tiles))), split_tiles};
}

}  // namespace heddle
