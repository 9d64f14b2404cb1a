#include <algorithm>
#include <cmath>

#include "generator/explain/time_shares.hpp"
#include "generator/explain/timeline.hpp"
#include "generator/step_time.hpp"
#include "templates/layout.cuh"
#include "templates/warpgroup_layout.cuh"

namespace heddle {
namespace {

constexpr int kMostSteps = 12;  ///< enough for a pipeline to be full

/// What each of the phases takes, if the block had the SM for itself.
void set_phases(PipelinePlan& plan, const KernelConfig& config, KernelPart part,
                const PartWork& work, const DeviceLimits& limits) {
  const StepWork& step = work.step;
  const StepCycles full = step_cycles(step, limits);
  StepWork rest = step;  // what is neither softmax nor exchange
  rest.warp_instructions -= step.softmax_instructions;
  rest.shared_bytes -= step.exchanged_bytes;
  const bool scores = part == KernelPart::kUnfusedScores;
  StepWork stores;
  if (scores) stores.warp_instructions = config.tile_m * config.tile_n / 32.0;
  rest.warp_instructions -= stores.warp_instructions;
  const StepCycles product = step_cycles(rest, limits);
  StepWork softmax_work;
  softmax_work.exponentials = step.exponentials;
  softmax_work.warp_instructions = step.softmax_instructions;
  const StepCycles softmax = step_cycles(softmax_work, limits);
  StepWork exchange;
  exchange.shared_bytes = step.exchanged_bytes;

  const bool warpgroups = part == KernelPart::kFa3Attention;
  // A block of fewer warps than there are schedulers leaves some of them idle.
  const double used = std::min(1.0, work.warps / 4.0);
  const double teams = warpgroups ? plan.teams : 1;
  const double products =
      warpgroups ? full.tensor / teams
                 : std::max({product.tensor / used, product.issue / used, product.shared});
  const bool half = part != KernelPart::kUnfusedScores && part != KernelPart::kUnfusedOutput;
  if (part != KernelPart::kUnfusedOutput) plan.query_key = half ? products / 2 : products;
  if (part != KernelPart::kUnfusedScores) plan.probability_value = half ? products / 2 : products;
  plan.softmax = std::max(softmax.exponential, softmax.issue) / used / teams;
  plan.exchange = step_cycles(exchange, limits).shared + step.exchange_stall_cycles;
  plan.store = step_cycles(stores, limits).issue / used;
}

/// Tiles come at the rate of L2, or at the SM's share of HBM where that is less. What a step writes
/// to HBM (S of unfused) its stores wait for, and blocks on an SM share that rate.
void set_loads(PipelinePlan& plan, const Problem& problem, const KernelConfig& config,
               KernelPart part, const PartPrediction& prediction, const DeviceLimits& limits) {
  const Variant& variant = problem.variant;
  const double key_tile = 1.0 * config.tile_n * variant.head_dim * element_bytes(variant.dtype);
  const double probabilities = 1.0 * config.tile_m * config.tile_n * element_bytes(variant.dtype);
  const double first = part == KernelPart::kUnfusedOutput ? probabilities : key_tile;
  const double second = part == KernelPart::kUnfusedScores ? 0 : key_tile;
  const double clock = limits.clock_ghz * 1e9;
  const PartWork& work = prediction.work;
  const double steps = std::max(1.0, work.blocks * work.mean_steps) / limits.sm_count;
  const double written = work.hbm.total() > 0 ? work.hbm.scores_written / work.hbm.total() : 0;
  const double all = prediction.hbm_seconds * clock / steps;
  const double hbm = all * (1 - written);
  const auto cycles = [&](double bytes) {
    StepWork load;
    load.l2_bytes = bytes;
    load.l2_access = work.step.l2_access;
    return std::max(step_cycles(load, limits).l2, hbm * bytes / (first + second));
  };
  plan.load_key = cycles(first);
  plan.load_value = second > 0 ? cycles(second) : 0;
  plan.store = std::max(plan.store, all * written * plan.teams);
  plan.load_latency = kLoadLatencySeconds * clock;
}

}  // namespace

PipelinePlan pipeline_plan(const Problem& problem, const KernelConfig& config, KernelPart part,
                           const PartPrediction& prediction, const DeviceLimits& limits) {
  PipelinePlan plan;
  plan.stages = config.stages;
  plan.steps =
      static_cast<int>(std::clamp(std::round(prediction.work.mean_steps), 1.0, 1.0 * kMostSteps));
  plan.teams = static_cast<int>(blocks_at_once(prediction, limits));
  if (part == KernelPart::kFa3Attention) {
    plan.teams = config.tile_m / kWarpgroupRows;
    plan.shared_rings = true;
    plan.order = config.overlap == Overlap::kNone ? LoopOrder::kInTurn : LoopOrder::kOverlapped;
    plan.turns = config.ping_pong;
  }
  if (part == KernelPart::kFa1Attention) {
    const int teams = config.warps / fa1_key_warps(config.warps);
    plan.substeps = config.tile_m / teams / kFa1StepRows;
  }
  plan.keys_go_with_values = part == KernelPart::kFa2Attention && config.stages > 1;
  set_phases(plan, config, part, prediction.work, limits);
  set_loads(plan, problem, config, part, prediction, limits);
  return plan;
}

}  // namespace heddle
