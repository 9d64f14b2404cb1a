#include "generator/part_work.hpp"

#include <algorithm>
#include <cmath>

#include "generator/cost_model.hpp"
#include "generator/fa3_work.hpp"
#include "generator/knobs.hpp"
#include "generator/residency.hpp"
#include "templates/layout.cuh"

namespace heddle {
namespace {

constexpr double kLdmatrixBytes = 512;  ///< an x4 load of one warp
constexpr double kMmaFlops = 2 * 16 * 8 * 16;
/// maximum, fused multiply-add, exp2, sum, half a conversion: per element of a tile of scores.
constexpr double kSoftmaxInstructions = 4.5;
constexpr double kBarrierCycles = 40;

double tile_bytes(const ProblemCut& c, double rows) {
  return rows * c.depth * c.element_bytes;
}

/// Exposed waiting of a step. One stage: a load is hidden behind one product only; two: it lands
/// just in time; more: only the barrier is left.
double stall_of_stages(int stages) {
  if (stages == 1) return 300 + 2 * kBarrierCycles;
  return stages == 2 ? 100 + kBarrierCycles : kBarrierCycles;
}

/// cp.async instructions (and their addresses) of a step's tiles.
double copy_instructions(const Problem& problem, double rows) {
  const double row_bytes = problem.variant.head_dim * element_bytes(problem.variant.dtype);
  const double pieces = rows * row_bytes / problem.variant.alignment;
  return 2 * pieces / 32;
}

/// What fa1 and fa2 have in common: both products, the softmax, the copies.
StepWork attention_step(const Problem& problem, const KernelConfig& config, const ProblemCut& c) {
  const double scores = c.rows * c.keys;
  StepWork step;
  step.flops = 4 * scores * c.depth;
  step.exponentials = scores;
  step.softmax_instructions = scores / 32 * kSoftmaxInstructions;
  step.warp_instructions = step.softmax_instructions + step.flops / kMmaFlops +
                           copy_instructions(problem, 2 * c.keys) + 40 * c.warps;
  step.shared_bytes = 2 * tile_bytes(c, c.keys);  // cp.async writes
  step.l2_bytes = 2 * c.keys * c.columns * c.element_bytes;
  step.stall_cycles = stall_of_stages(config.stages);
  return step;
}

double prefetched_bytes(const KernelConfig& config, const ProblemCut& c) {
  const double ahead = config.stages == 1 ? 1 : 2 * (config.stages - 1);
  return ahead * c.keys * c.columns * c.element_bytes;
}

void count_fa2(PartWork& work, const Problem& problem, const KernelConfig& config,
               const ProblemCut& c, int num_splits) {
  work.mean_steps = c.heads * c.head_steps / work.blocks;
  work.longest_steps = std::max(std::ceil(c.longest_tile / num_splits), work.mean_steps);
  work.bytes_in_flight = prefetched_bytes(config, c);
  work.step = attention_step(problem, config, c);
  // Every warp reads all of K and V; its own rows of Q too unless they stay in registers.
  double reads = c.warps * 2 * tile_bytes(c, c.keys);
  if (!config.query_in_registers) reads += tile_bytes(c, c.rows);
  work.step.shared_bytes += reads;
  work.step.warp_instructions += reads / kLdmatrixBytes;
  // A moving maximum multiplies the whole accumulator; lazily, it hardly ever moves.
  const bool lazy = config.running_max == RunningMax::kLazy;
  const double rescaling = lazy ? 8 * c.warps : c.rows * c.depth / 32;
  work.step.softmax_instructions += rescaling;
  work.step.warp_instructions += rescaling;
}

/// Key warps read only their own keys of K and V, but all rows of Q; and partial outputs cross
/// shared memory at every step, which is what version 2 did away with.
void count_fa1(PartWork& work, const Problem& problem, const KernelConfig& config,
               const ProblemCut& c) {
  const double key_warps = fa1_key_warps(config.warps);
  const double teams = c.warps / key_warps;
  work.mean_steps = work.longest_steps = c.head_steps;
  work.uneven = false;  // every block does a whole head
  work.bytes_in_flight = prefetched_bytes(config, c);
  work.step = attention_step(problem, config, c);
  const double reads =
      c.rows / kFa1StepRows * 2 * tile_bytes(c, c.keys) + key_warps * tile_bytes(c, c.rows);
  const double exchanged = (key_warps - 1) * c.rows * c.depth * 4;
  work.step.exchanged_bytes = 2 * exchanged;
  work.step.shared_bytes += reads + work.step.exchanged_bytes;
  work.step.warp_instructions += reads / kLdmatrixBytes + 2 * exchanged / kLdmatrixBytes +
                                 (key_warps + 1) * c.rows * c.depth / 32;
  const double rounds = c.depth / 8 / key_warps;
  work.step.exchange_stall_cycles =
      c.rows / kFa1StepRows / teams * (2 * rounds + 2) * kBarrierCycles;
  work.step.stall_cycles += work.step.exchange_stall_cycles;
}

/// One of the two matrix products of unfused.
void count_product(PartWork& work, const Problem& problem, const KernelConfig& config,
                   const ProblemCut& c, KernelPart part) {
  // Scores go out in fp32, probabilities come in.
  const double entry_bytes = part == KernelPart::kUnfusedScores ? 4 : c.element_bytes;
  work.mean_steps = c.heads * c.head_steps / work.blocks;
  work.longest_steps = std::max(work.mean_steps, c.heads * c.tiles / work.blocks * c.longest_tile);
  work.bytes_in_flight = prefetched_bytes(config, c) / 2;
  StepWork& step = work.step;
  step.flops = 2 * c.rows * c.keys * c.depth;
  // Warps tile the results in two dimensions, about as many down as across.
  const double reads = (tile_bytes(c, c.rows) + tile_bytes(c, c.keys)) * std::sqrt(c.warps);
  const double moved = c.rows * c.keys / 32;  // scores out, or probabilities in
  step.warp_instructions = step.flops / kMmaFlops + reads / kLdmatrixBytes + moved +
                           copy_instructions(problem, c.keys) + 40 * c.warps;
  step.shared_bytes = reads + tile_bytes(c, c.keys) + c.rows * c.keys * c.element_bytes;
  step.l2_bytes = c.columns * c.keys * c.element_bytes + c.rows * c.keys * entry_bytes;
  step.stall_cycles = stall_of_stages(config.stages);
}

/// A kernel that only streams rows: its time is its bytes'.
void count_streaming(PartWork& work, const ProblemCut& c, double block_rows, double exponentials) {
  constexpr double kInFlight = 16 * 1024;
  const double share = std::min(block_rows, c.query_rows) / c.query_rows;  // of a full block
  work.mean_steps = work.longest_steps = 1;
  work.uneven = false;
  work.bytes_in_flight = kInFlight;
  work.step.l2_bytes = work.hbm.total() * share;
  work.step.l2_access = L2Access::kRows;
  work.step.exponentials = exponentials * share;
  work.step.warp_instructions = work.step.exponentials / 32 * 8;
}

/// Of a persistent grid too: work, not blocks, is dealt out.
double blocks_of_work(const ProblemCut& c, const LaunchPlan& plan, const PartLaunch& launch) {
  if (launch.part != KernelPart::kFa3Attention) return launch.grid;
  return c.packs * c.tiles * plan.num_splits;
}

bool is_streaming(KernelPart part) {
  return part == KernelPart::kUnfusedSoftmax || part == KernelPart::kSplitCombine;
}

}  // namespace

double tensor_flops_per_clock(Family family, DataType dtype, const DeviceLimits& limits) {
  constexpr double kWgmma = 4096;  // of an SM of sm_90a, dense fp16 and bf16; twice that of 8 bits
  if (family != Family::kFa3) return limits.tensor_flops_per_clock_sm;
  return dtype == DataType::kE4m3 ? 2 * kWgmma : kWgmma;
}

PartWork count_work(const Problem& problem, const KernelConfig& config, const LaunchPlan& plan,
                    int index, const DeviceLimits& limits) {
  const PartLaunch& launch = plan.launches[index];
  const ProblemCut c = cut_problem(problem, config, plan);
  PartWork work;
  work.warps = launch.threads / 32;
  work.shared_bytes = launch.shared_bytes;
  work.uneven = problem.variant.mask == MaskKind::kCausal;
  work.longest_first =
      config.longest_first && knob_applies("longest_first", config.family, problem.variant);
  constexpr int kStreamingRegisters = 40;
  work.registers = is_streaming(launch.part) ? kStreamingRegisters
                                             : estimate_registers(problem.variant, config, limits);
  work.blocks = blocks_of_work(c, plan, launch);
  const double slots = static_cast<double>(residency(work, limits).blocks) * limits.sm_count;
  work.hbm = hbm_traffic(launch.part, config, c, plan.num_splits, {work.blocks, slots}, limits);
  switch (launch.part) {
    case KernelPart::kFa2Attention:
      count_fa2(work, problem, config, c, plan.num_splits);
      break;
    case KernelPart::kSplitCombine:
      count_streaming(work, c, combine_rows_per_block(), c.query_rows * plan.num_splits);
      break;
    case KernelPart::kFa1Attention:
      count_fa1(work, problem, config, c);
      break;
    case KernelPart::kUnfusedScores:
    case KernelPart::kUnfusedOutput:
      count_product(work, problem, config, c, launch.part);
      break;
    case KernelPart::kUnfusedSoftmax:
      count_streaming(work, c, unfused_softmax_rows_per_block(), score_count(c));
      break;
    case KernelPart::kFa3Attention:
      count_fa3(work, problem, config, limits,
                {c.packs * c.tiles, c.head_steps / c.tiles, plan.num_splits},
                attention_step(problem, config, c));
      break;
    case KernelPart::kReference:
      break;
  }
  return work;
}

}  // namespace heddle
