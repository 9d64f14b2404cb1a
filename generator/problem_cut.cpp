#include "generator/problem_cut.hpp"

#include <algorithm>
#include <cmath>

namespace heddle {
namespace {

/// Key tiles that all query tiles of a head meet: the tiles that the mask leaves, whole.
double count_head_steps(const Problem& problem, const KernelConfig& config,
                        const LaunchPlan& plan) {
  constexpr double kCountedTiles = 4096;
  const Sizes& sizes = problem.sizes;
  const double tiles = plan.query_tiles;
  const double tile_keys = config.tile_n;
  if (problem.variant.mask == MaskKind::kFull) {
    return tiles * std::ceil(sizes.seqlen_kv / tile_keys);
  }
  const double diagonal = static_cast<double>(sizes.seqlen_kv) - sizes.seqlen_q;
  const auto steps_of = [&](double tile) {
    const double last_query = std::min((tile + 1) * plan.tile_queries, 1.0 * sizes.seqlen_q);
    return std::ceil(std::clamp(last_query + diagonal, 0.0, 1.0 * sizes.seqlen_kv) / tile_keys);
  };
  // Beyond a few thousand tiles evenly spaced ones stand for the others.
  const double counted = std::min(tiles, kCountedTiles);
  double steps = 0;
  for (double i = 0; i < counted; ++i) steps += steps_of(std::floor(i * tiles / counted));
  return steps * tiles / counted;
}

}  // namespace

ProblemCut cut_problem(const Problem& problem, const KernelConfig& config, const LaunchPlan& plan) {
  const Sizes& sizes = problem.sizes;
  ProblemCut c{};
  c.rows = config.tile_m;
  c.keys = config.tile_n;
  c.depth = padded_head_dim(problem.variant.head_dim);
  c.columns = problem.variant.head_dim;
  c.heads = static_cast<double>(sizes.batch) * sizes.heads;
  c.kv_heads = static_cast<double>(sizes.batch) * sizes.resolved_kv_heads();
  c.tiles = plan.query_tiles;
  c.packs = c.kv_heads * std::ceil(c.heads / c.kv_heads / plan.packed_heads);
  c.head_steps = count_head_steps(problem, config, plan);
  c.longest_tile = std::ceil(sizes.seqlen_kv / c.keys);
  c.query_rows = c.heads * sizes.seqlen_q;
  c.key_rows = c.kv_heads * sizes.seqlen_kv;
  c.warps = config.warps;
  c.element_bytes = element_bytes(problem.variant.dtype);
  c.output_bytes = element_bytes(output_type(problem.variant));
  return c;
}

}  // namespace heddle
