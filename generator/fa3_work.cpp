// Beside what fa2 does: operands come from shared memory without instructions, loads cost none, and
// products run while the softmax does. The constants are fitted to kernels measured on an H200
// (docs/performance.md): where a tile's cycles go by sampling, and what each knob changes.
#include "generator/fa3_work.hpp"

#include <algorithm>

#include "generator/cost_model.hpp"
#include "templates/layout.cuh"
#include "templates/warpgroup_layout.cuh"

namespace heddle {
namespace {

/// Cycles of a tile outside its loop, head_dim 128: first product and softmax, last product, and O
/// stored from registers or by TMA.
constexpr double kTileCycles = 3700;
constexpr double kDirectStoreCycles = 1800;
constexpr double kTmaStoreCycles = 800;
/// The next tile's queries come only after this one's last product.
constexpr double kOneQuerySlotCycles = 1000;
/// A block that begins has no loads under way.
constexpr double kBlockStartCycles = 2500;
/// Of a step: starting products, and the softmax's way from the first to the last instruction. Deep
/// products hide more of it.
constexpr double kStepCycles = 350;
constexpr double kDeepStepCycles = 100;
/// Without turns, three teams that are short of products (head_dim 64) meet at the tensor cores.
constexpr double kNoTurns = 0.02;
constexpr double kNoTurnsThreeShortTeams = 0.09;
/// What a step takes longer without overlap inside a warpgroup: the median of five tiles, worked
/// out from docs/evidence.md's table of the pipeline. Without a producer it is the warps that are
/// not there to fill gaps: 7 to 10 % by this model, 6 to 15 % measured.
constexpr double kNoOverlapCycles = 150;
/// Fused multiply-add, exp2, sum, half a conversion: per element of a tile of scores.
constexpr double kSoftmaxInstructions = 3.5;
/// Looking for the maximum; lazily two more entries an instruction, a maximum of three integers.
constexpr double kMaximumInstructions = 1;
constexpr double kLazyMaximumInstructions = 0.5;
/// Checked sums: without the maximum in all but the first blocks, as many as that on average.
constexpr double kWatchedBlocks = 7;
/// A vote and what it is about, for each warp.
constexpr double kCheckInstructions = 12;

double fixed_cycles(const Problem& problem, const KernelConfig& config) {
  const double depth = padded_head_dim(problem.variant.head_dim) / 128.0;
  double cycles = kTileCycles;
  cycles += depth * (config.tma_store ? kTmaStoreCycles : kDirectStoreCycles);
  if (config.query_stages == 1) cycles += depth * kOneQuerySlotCycles;
  if (config.scheduler == TileScheduler::kTilePerBlock) cycles += kBlockStartCycles;
  return cycles;
}

/// Key tiles of a query tile that are hidden from a team, on average over its teams.
double skipped_steps(const KernelConfig& config) {
  if (!config.skip_masked) return 0;
  const int teams = config.tile_m / kWarpgroupRows;
  double skipped = 0;
  for (int team = 0; team < teams; ++team) {
    skipped += (config.tile_m - kWarpgroupRows * (team + 1)) / config.tile_n;
  }
  return skipped / teams;
}

}  // namespace

void count_fa3(PartWork& work, const Problem& problem, const KernelConfig& config,
               const DeviceLimits& limits, const TileCount& count, const StepWork& step) {
  const double scores = static_cast<double>(config.tile_m) * config.tile_n;
  const double depth = padded_head_dim(problem.variant.head_dim);
  const double row_bytes = depth * element_bytes(problem.variant.dtype);
  work.mean_steps = std::max(1.0, (count.mean_steps - skipped_steps(config)) / count.num_splits);
  work.longest_steps =
      std::max(1.0 * problem.sizes.seqlen_kv / config.tile_n / count.num_splits, work.mean_steps);
  work.fixed_cycles = fixed_cycles(problem, config);
  const double tiles_ahead = std::max(1, 2 * (config.stages - 1));
  work.bytes_in_flight = tiles_ahead * config.tile_n * row_bytes;
  work.step = step;
  work.step.l2_access = L2Access::kRows;
  // Counted at the rate of mma.sync, which is the table's.
  work.step.flops *= limits.tensor_flops_per_clock_sm /
                     tensor_flops_per_clock(config.family, problem.variant.dtype, limits);
  work.step.warp_instructions = scores / 32 * kSoftmaxInstructions + 100 * config.warps;
  switch (config.running_max) {
    case RunningMax::kEveryBlock:
      work.step.warp_instructions +=
          scores / 32 * kMaximumInstructions + config.tile_m * depth / 32;
      break;
    case RunningMax::kLazy:
      work.step.warp_instructions += scores / 32 * kLazyMaximumInstructions;
      break;
    case RunningMax::kCheckedSum: {
      const double watched = std::min(1.0, kWatchedBlocks / work.mean_steps);
      work.step.warp_instructions +=
          watched * scores / 32 * kMaximumInstructions + kCheckInstructions * config.warps;
      break;
    }
  }
  work.step.softmax_instructions = work.step.warp_instructions;
  // What the TMA writes; what wgmma reads is part of its rate.
  work.step.shared_bytes = 2 * config.tile_n * row_bytes;
  work.step.stall_cycles = depth > 128 ? kDeepStepCycles : kStepCycles;
  if (config.overlap == Overlap::kNone) work.step.stall_cycles += kNoOverlapCycles;
  if (!config.ping_pong) {
    const bool short_products = depth <= 64 && config.tile_m > 2 * kWarpgroupRows;
    work.step.stall_cycles += (short_products ? kNoTurnsThreeShortTeams : kNoTurns) *
                              work.step.flops / limits.tensor_flops_per_clock_sm;
  }
}

}  // namespace heddle
