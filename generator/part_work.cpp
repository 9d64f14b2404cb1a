#include "generator/part_work.hpp"

#include <algorithm>
#include <cmath>

#include "generator/cost_model.hpp"
#include "generator/fa3_work.hpp"
#include "generator/knobs.hpp"
#include "templates/layout.cuh"

namespace heddle {
namespace {

constexpr double kLdmatrixBytes = 512;  ///< an x4 load of one warp
constexpr double kMmaFlops = 2 * 16 * 8 * 16;
/// maximum, fused multiply-add, exp2, sum, half a conversion: per element of a tile of scores.
constexpr double kSoftmaxInstructions = 4.5;
constexpr double kBarrierCycles = 40;

/// The problem as one config cuts it.
struct Cut {
  double rows, keys;            ///< of a tile
  double depth, columns;        ///< padded and real head dim
  double heads, kv_heads;       ///< times batch
  double packs;                 ///< of heads that share tiles: as many as heads, or fewer
  double tiles;                 ///< query tiles of a head
  double head_steps;            ///< key tiles met by all query tiles of a head
  double longest_tile;          ///< key tiles met by the last query tile
  double query_rows, key_rows;  ///< of the whole problem
  double warps;
  double element_bytes;  ///< of Q, K and V
  double output_bytes;   ///< the same of O
};

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

Cut cut(const Problem& problem, const KernelConfig& config, const LaunchPlan& plan) {
  const Sizes& sizes = problem.sizes;
  Cut c{};
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

double tile_bytes(const Cut& c, double rows) {
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

/// K and V: read once, and again by every later wave of blocks of a head for what L2 has lost.
/// (A head's blocks run at the same time as far as they fit, and then share what is in L2.)
double key_value_hbm_bytes(const Cut& c, double blocks, double slots, const DeviceLimits& limits) {
  constexpr double kUsableL2 = 0.6;  // the rest holds Q, O and the other slice's copies
  const double bytes = 2 * c.key_rows * c.columns * c.element_bytes;
  if (c.kv_heads == 0) return 0;
  const double head_blocks = blocks / c.kv_heads;
  const double heads_at_once = std::clamp(slots / head_blocks, 1.0, c.kv_heads);
  const double working_set = bytes / c.kv_heads * heads_at_once;
  const double l2 = kUsableL2 * static_cast<double>(limits.l2_bytes);
  const double lost = working_set > l2 ? 1 - l2 / working_set : 0;
  const double passes = std::max(1.0, head_blocks / slots);
  return bytes * (1 + (passes - 1) * lost);
}

double query_output_bytes(const Cut& c) {
  return c.query_rows * c.columns * (c.element_bytes + c.output_bytes);
}

/// What splits leave, written or read: O in fp32, and a PartialRow of each row.
double partial_bytes(const KernelConfig& config, const Cut& c, int num_splits) {
  return config.split_kv ? num_splits * c.query_rows * (4 * c.columns + double{sizeof(PartialRow)})
                         : 0;
}

/// What fa1 and fa2 have in common: both products, the softmax, the copies.
StepWork attention_step(const Problem& problem, const KernelConfig& config, const Cut& c) {
  const double scores = c.rows * c.keys;
  StepWork step;
  step.flops = 4 * scores * c.depth;
  step.exponentials = scores;
  step.warp_instructions = scores / 32 * kSoftmaxInstructions + step.flops / kMmaFlops +
                           copy_instructions(problem, 2 * c.keys) + 40 * c.warps;
  step.shared_bytes = 2 * tile_bytes(c, c.keys);  // cp.async writes
  step.l2_bytes = 2 * c.keys * c.columns * c.element_bytes;
  step.stall_cycles = stall_of_stages(config.stages);
  return step;
}

double prefetched_bytes(const KernelConfig& config, const Cut& c) {
  const double ahead = config.stages == 1 ? 1 : 2 * (config.stages - 1);
  return ahead * c.keys * c.columns * c.element_bytes;
}

void count_fa2(PartWork& work, const Problem& problem, const KernelConfig& config, const Cut& c,
               int num_splits) {
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
  work.step.warp_instructions += lazy ? 8 * c.warps : c.rows * c.depth / 32;
  work.hbm_bytes = query_output_bytes(c) + partial_bytes(config, c, num_splits);
}

/// Key warps read only their own keys of K and V, but all rows of Q; and partial outputs cross
/// shared memory at every step, which is what version 2 did away with.
void count_fa1(PartWork& work, const Problem& problem, const KernelConfig& config, const Cut& c) {
  const double key_warps = fa1_key_warps(config.warps);
  const double teams = c.warps / key_warps;
  work.mean_steps = work.longest_steps = c.head_steps;
  work.uneven = false;  // every block does a whole head
  work.bytes_in_flight = prefetched_bytes(config, c);
  work.step = attention_step(problem, config, c);
  const double reads =
      c.rows / kFa1StepRows * 2 * tile_bytes(c, c.keys) + key_warps * tile_bytes(c, c.rows);
  const double exchanged = (key_warps - 1) * c.rows * c.depth * 4;
  work.step.shared_bytes += reads + 2 * exchanged;
  work.step.warp_instructions += reads / kLdmatrixBytes + 2 * exchanged / kLdmatrixBytes +
                                 (key_warps + 1) * c.rows * c.depth / 32;
  const double rounds = c.depth / 8 / key_warps;
  work.step.stall_cycles += c.rows / kFa1StepRows / teams * (2 * rounds + 2) * kBarrierCycles;
  work.hbm_bytes = query_output_bytes(c);
}

/// Entries of S that reach memory: whole key tiles, but no rows past the last query.
double score_count(const Cut& c) {
  return c.head_steps / c.tiles * c.keys * c.query_rows;
}

/// fp32 scores written and read, 16-bit probabilities written and read: 12 bytes per score, less
/// what L2 keeps from one kernel to the next.
double score_traffic(const Cut& c, double bytes_per_score, const DeviceLimits& limits) {
  const double scores = score_count(c);
  const double l2 = 0.5 * static_cast<double>(limits.l2_bytes);
  const double kept = std::min(1.0, l2 / (4 * scores + 1));
  return scores * bytes_per_score * (1 - 0.8 * kept);
}

/// One of the two matrix products of unfused.
void count_product(PartWork& work, const Problem& problem, const KernelConfig& config,
                   const Cut& c) {
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
  step.l2_bytes = (c.columns + c.rows) * c.keys * c.element_bytes;
  step.stall_cycles = stall_of_stages(config.stages);
}

/// A kernel that only streams rows: its time is its bytes'.
void count_streaming(PartWork& work, const Cut& c, double block_rows, double exponentials) {
  constexpr double kInFlight = 16 * 1024;
  const double share = std::min(block_rows, c.query_rows) / c.query_rows;  // of a full block
  work.mean_steps = work.longest_steps = 1;
  work.uneven = false;
  work.bytes_in_flight = kInFlight;
  work.step.l2_bytes = work.hbm_bytes * share;
  work.step.exponentials = exponentials * share;
  work.step.warp_instructions = work.step.exponentials / 32 * 8;
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

int resident_blocks(const PartWork& work, const DeviceLimits& limits) {
  constexpr int kReservedShared = 1024;  // per block, by the driver, since sm_80
  const int threads = work.warps * 32;
  const int registers = std::min(255, (work.registers + 7) / 8 * 8);
  const int warps_by_registers = limits.registers_per_sm / (registers * 32) / 4 * 4;
  const int resident = std::min({limits.blocks_per_sm, limits.threads_per_sm / threads,
                                 limits.shared_bytes_per_sm / (work.shared_bytes + kReservedShared),
                                 warps_by_registers / work.warps});
  return std::max(resident, 1);
}

PartWork count_work(const Problem& problem, const KernelConfig& config, const LaunchPlan& plan,
                    int index, const DeviceLimits& limits) {
  const PartLaunch& launch = plan.launches[index];
  const Cut c = cut(problem, config, plan);
  PartWork work;
  work.blocks = launch.grid;
  work.warps = launch.threads / 32;
  work.shared_bytes = launch.shared_bytes;
  work.uneven = problem.variant.mask == MaskKind::kCausal;
  work.longest_first =
      config.longest_first && knob_applies("longest_first", config.family, problem.variant);
  constexpr int kStreamingRegisters = 40;
  work.registers = is_streaming(launch.part) ? kStreamingRegisters
                                             : estimate_registers(problem.variant, config, limits);
  const double slots = static_cast<double>(resident_blocks(work, limits)) * limits.sm_count;
  const double key_value = key_value_hbm_bytes(c, work.blocks, slots, limits);
  switch (launch.part) {
    case KernelPart::kFa2Attention:
      count_fa2(work, problem, config, c, plan.num_splits);
      work.hbm_bytes += key_value;
      break;
    case KernelPart::kSplitCombine:
      work.hbm_bytes = partial_bytes(config, c, plan.num_splits) + query_output_bytes(c) / 2;
      count_streaming(work, c, combine_rows_per_block(), c.query_rows * plan.num_splits);
      break;
    case KernelPart::kFa1Attention:
      count_fa1(work, problem, config, c);
      work.hbm_bytes += key_value;
      break;
    case KernelPart::kUnfusedScores:
      count_product(work, problem, config, c);
      work.hbm_bytes = score_traffic(c, 4, limits) + (query_output_bytes(c) + key_value) / 2;
      break;
    case KernelPart::kUnfusedSoftmax:
      work.hbm_bytes = score_traffic(c, 6, limits);
      count_streaming(work, c, unfused_softmax_rows_per_block(), score_count(c));
      break;
    case KernelPart::kUnfusedOutput:
      count_product(work, problem, config, c);
      work.hbm_bytes = score_traffic(c, 2, limits) + (query_output_bytes(c) + key_value) / 2;
      break;
    case KernelPart::kFa3Attention:
      count_fa3(work, problem, config, limits,
                {c.packs * c.tiles, c.head_steps / c.tiles, plan.num_splits},
                attention_step(problem, config, c));
      work.hbm_bytes = query_output_bytes(c) + partial_bytes(config, c, plan.num_splits);
      work.hbm_bytes += key_value;
      break;
    case KernelPart::kReference:
      break;
  }
  return work;
}

}  // namespace heddle
