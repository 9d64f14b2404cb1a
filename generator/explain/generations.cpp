#include "generator/explain/generations.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "generator/candidates.hpp"
#include "generator/legality.hpp"
#include "templates/warpgroup_layout.cuh"

namespace heddle {
namespace {

/// Of the family's plainest config, for want of a better one to blame.
std::string why_impossible(const Problem& problem, Family family, const DeviceLimits& limits) {
  KernelConfig config;
  config.family = family;
  if (family == Family::kFa3) config.warps = config.tile_m / 16;
  const auto rejection = reject(problem.variant, config, limits);
  return rejection ? rejection->reason : "none of the configs that the tuner tries is legal";
}

/// Summed over the launches, for all blocks.
double sum(const Explanation& explanation, double StepWork::*count) {
  double total = 0;
  for (const PartExplanation& part : explanation.parts) {
    const PartWork& work = part.prediction.work;
    total += work.blocks * work.mean_steps * (work.step.*count);
  }
  return total;
}

GenerationStep step_between(const std::vector<Generation>& generations, std::size_t from,
                            std::size_t to) {
  const Explanation& before = generations[from].explanation;
  const Explanation& after = generations[to].explanation;
  GenerationStep step{from, to};
  step.gain = before.prediction.seconds / after.prediction.seconds;
  step.bottleneck = before.shares.largest();
  step.exposed = after.shares.largest();
  step.removed = most_shrunk(before.shares, after.shares);
  step.grown = most_grown(before.shares, after.shares);
  const double used = resource_count(step.removed.share, before);
  step.less_of_it = used == 0 || resource_count(step.removed.share, after) < used / 2;
  return step;
}

int barriers_of_key_tile(const PartExplanation& part) {
  int times = 0;
  for (const Exchange& exchange : part.exchanges) {
    if (exchange.period == Period::kKeyTile) times += exchange.times;
  }
  return times;
}

}  // namespace

Generation best_of_family(const Problem& problem, Family family, const DeviceLimits& limits) {
  Generation generation;
  generation.family = family;
  const auto ranked = rank_candidates(problem, limits, family);
  if (ranked.empty()) {
    generation.impossible = why_impossible(problem, family, limits);
  } else {
    generation.explanation = explain(problem, ranked.front().config, limits);
  }
  return generation;
}

std::vector<GenerationStep> generation_steps(const std::vector<Generation>& generations) {
  std::vector<GenerationStep> steps;
  std::size_t before = generations.size();
  for (std::size_t i = 0; i < generations.size(); ++i) {
    if (!generations[i].impossible.empty()) continue;
    if (before < generations.size()) steps.push_back(step_between(generations, before, i));
    before = i;
  }
  return steps;
}

std::vector<std::string> share_causes(TimeShare share, const Explanation& before,
                                      const Explanation& after) {
  std::vector<std::string> causes;
  const bool tensor = share == TimeShare::kTensor;
  const bool shared = share == TimeShare::kSharedMemory;
  const int heads = after.plan.packed_heads;
  if (heads > before.plan.packed_heads && (tensor || shared || share == TimeShare::kL2)) {
    causes.push_back(
        fmt::format("pack_gqa puts the {} query heads of a KV head into one tile: K and V tiles "
                    "are brought and "
                    "multiplied once for all of them",
                    heads));
  }
  const bool wgmma = after.config.family == Family::kFa3 && before.config.family != Family::kFa3;
  if (wgmma && tensor) {
    causes.push_back(fmt::format("wgmma multiplies at {:.0f} TFLOP/s, mma.sync at {:.0f}",
                                 after.roofline.peak_flops * 1e-12,
                                 before.roofline.peak_flops * 1e-12));
  }
  if (wgmma && shared) {
    causes.push_back(
        "wgmma's reads of shared memory are part of its rate: only what the TMA writes counts, "
        "where "
        "mma.sync's warps load every operand");
  }
  if (share == TimeShare::kIdle && after.plan.num_splits > before.plan.num_splits) {
    causes.push_back(fmt::format("{} splits of the keys make as many pieces of each tile's work",
                                 after.plan.num_splits));
  }
  return causes;
}

double resource_count(TimeShare share, const Explanation& explanation) {
  switch (share) {
    case TimeShare::kTensor:
      return explanation.roofline.issued_flops;
    case TimeShare::kExponential:
      return sum(explanation, &StepWork::exponentials);
    case TimeShare::kIssue:
      return sum(explanation, &StepWork::warp_instructions);
    case TimeShare::kSharedMemory:
      return sum(explanation, &StepWork::shared_bytes);
    case TimeShare::kL2:
      return sum(explanation, &StepWork::l2_bytes);
    case TimeShare::kHbm:
      return explanation.roofline.hbm_bytes;
    default:
      return 0;
  }
}

std::string share_evidence(TimeShare share, const Explanation& explanation) {
  if (explanation.parts.empty()) return {};
  const PartExplanation& first = explanation.parts.front();
  const GridFacts& grid = first.grid;
  switch (share) {
    case TimeShare::kTensor:
      return fmt::format("{:.3g} FLOP in whole tiles at {:.0f} TFLOP/s",
                         explanation.roofline.issued_flops,
                         explanation.roofline.peak_flops * 1e-12);
    case TimeShare::kExponential:
      return fmt::format("{:.3g} exponentials", sum(explanation, &StepWork::exponentials));
    case TimeShare::kIssue:
      return fmt::format("{:.3g} warp instructions",
                         sum(explanation, &StepWork::warp_instructions));
    case TimeShare::kSharedMemory:
      return fmt::format("{:.3g} GB through shared memory, {:.3g} of them exchanged between warps",
                         sum(explanation, &StepWork::shared_bytes) * 1e-9,
                         sum(explanation, &StepWork::exchanged_bytes) * 1e-9);
    case TimeShare::kL2:
      return fmt::format("{:.3g} GB from L2", sum(explanation, &StepWork::l2_bytes) * 1e-9);
    case TimeShare::kHbm:
      return fmt::format("{:.3g} GB over HBM", explanation.roofline.hbm_bytes * 1e-9);
    case TimeShare::kLoadLatency:
      return fmt::format("{:.0f} B asked for ahead by a block",
                         first.prediction.work.bytes_in_flight);
    case TimeShare::kOneAfterOther:
      return fmt::format("{} warps on an SM{}", grid.blocks_on_sm * grid.threads / 32,
                         first.launch.part == KernelPart::kFa3Attention
                             ? ", products beside softmax"
                             : ", each doing products and softmax in turn");
    case TimeShare::kWaiting:
      return fmt::format("{} barriers a key tile", barriers_of_key_tile(first));
    case TimeShare::kBlockEnds:
      return fmt::format("{} pieces of work of {:.0f} key tiles", grid.pieces, grid.mean_steps);
    case TimeShare::kIdle:
      return fmt::format("{} pieces of work for {} SMs, {:.2f} waves", grid.pieces,
                         explanation.limits.sm_count, grid.waves);
    case TimeShare::kLaunch:
      return fmt::format("{} launches", explanation.parts.size());
  }
  return {};
}

}  // namespace heddle
