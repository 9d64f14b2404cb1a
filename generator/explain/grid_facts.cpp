#include "generator/explain/grid_facts.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "generator/ceil_div.hpp"

namespace heddle {
namespace {

int rows_per_block(KernelPart part) {
  if (part == KernelPart::kUnfusedSoftmax) return unfused_softmax_rows_per_block();
  return part == KernelPart::kSplitCombine ? combine_rows_per_block() : 0;
}

GridFactor factor(long long count, const std::string& one, const std::string& many) {
  return {count == 1 ? one : many, count};
}

std::vector<GridFactor> factors_of(const Problem& problem, const LaunchPlan& plan,
                                   KernelPart part) {
  const Sizes& sizes = problem.sizes;
  if (const int rows = rows_per_block(part); rows > 0) {
    const long long all = static_cast<long long>(sizes.batch) * sizes.heads * sizes.seqlen_q;
    return {factor(ceil_div(all, rows), fmt::format("group of {} query rows", rows),
                   fmt::format("groups of {} query rows", rows))};
  }
  std::vector<GridFactor> factors{{"batch", sizes.batch}};
  if (plan.packed_heads > 1) {
    const int group = sizes.heads / sizes.resolved_kv_heads();
    factors.push_back(factor(sizes.resolved_kv_heads(), "KV head", "KV heads"));
    factors.push_back(factor(ceil_div(group, plan.packed_heads),
                             fmt::format("pack of {} query heads", plan.packed_heads),
                             fmt::format("packs of {} query heads", plan.packed_heads)));
  } else {
    factors.push_back(factor(sizes.heads, "head", "heads"));
  }
  if (part == KernelPart::kFa1Attention) return factors;  // a block walks all query tiles
  factors.push_back(factor(plan.query_tiles, "query tile", "query tiles"));
  if (plan.num_splits > 1) factors.push_back({"splits of the keys", plan.num_splits});
  return factors;
}

}  // namespace

GridFacts grid_facts(const Problem& problem, const KernelConfig& config, const LaunchPlan& plan,
                     const PartLaunch& launch, const PartWork& work, const DeviceLimits& limits) {
  GridFacts facts;
  facts.factors = factors_of(problem, plan, launch.part);
  facts.pieces = 1;
  for (const GridFactor& factor : facts.factors) facts.pieces *= factor.count;
  facts.blocks = launch.grid;
  facts.threads = launch.threads;
  facts.persistent = loads_by_tma(launch.part) && config.scheduler != TileScheduler::kTilePerBlock;
  facts.drawn = facts.persistent && config.scheduler == TileScheduler::kDynamic;
  facts.residency = residency(work, limits);
  facts.limited_by = residency_limits(work, limits);
  facts.slots = static_cast<long long>(facts.residency.blocks) * limits.sm_count;
  facts.blocks_on_sm = static_cast<int>(
      std::min<long long>(facts.residency.blocks, ceil_div(facts.blocks, limits.sm_count)));
  const auto pieces = static_cast<double>(facts.pieces);
  const auto slots = static_cast<double>(facts.slots);
  facts.waves = pieces / slots;
  const double left = pieces - std::floor(facts.waves) * slots;
  facts.last_wave = left > 0 ? left / slots : 1;
  facts.sms_used = static_cast<int>(std::min<long long>(facts.blocks, limits.sm_count));
  facts.occupancy =
      facts.blocks_on_sm * launch.threads / static_cast<double>(limits.threads_per_sm);
  facts.mean_steps = work.mean_steps;
  facts.longest_steps = work.longest_steps;
  facts.packed_heads = plan.packed_heads;
  facts.tile_queries = rows_per_block(launch.part) > 0 ? 0 : plan.tile_queries;
  return facts;
}

}  // namespace heddle
