#include "generator/hbm_traffic.hpp"

#include <algorithm>
#include <cmath>

namespace heddle {
namespace {

// An SM reaches the memory behind the other half of L2 through its own half. What blocks of both
// halves read is therefore held twice; the rest holds Q and O too.
constexpr double kSharedL2 = 0.5;
/// What one block alone reads is held once if its memory is behind the half of its SM, twice or,
/// the other copy being the older, once otherwise: distinct bytes take between 2/3 and all of L2.
/// Measured, by the DRAM counters of fa1 on an H200 in two runs (tests/generator/dram_bytes.hpp):
/// 0.76 and 0.77 with 16 and 64 blocks, 0.64 and 0.63 with 256 and 1024, two to an SM. Why those
/// keep less is not known; they also make fewer passes, 16 for 64 and 256.
constexpr double kOwnL2 = 0.765;
constexpr double kOwnL2OfCrowded = 0.635;  ///< where SMs have several blocks
/// How much faster the fastest of a grid's SMs walks than the slowest, alike as their work is.
/// Measured: 16 blocks of fa1, length 16384, d 128, on an H200 (Nsight Compute): on the mean of the
/// 16 SMs sm__cycles_active is 0.185 % below its maximum, which is half of the spread.
constexpr double kSpeedSpread = 0.0037;

/// How much of the time blocks that began together are out of step, at opposite phases of their
/// walks counting whole. Two of them differ by a third of the spread on average, and a quarter of a
/// pass is what independent phases differ by: that takes 3 / (4 spread) passes.
double out_of_step(double passes) {
  const double until = 0.75 / kSpeedSpread;
  return passes < until ? passes / until / 2 : 1 - until / passes / 2;
}

/// Blocks of a head run at the same time as far as they fit, and then share what is in L2. fa1's
/// one block of a head walks the keys once for each query tile, by itself.
KeyValueReuse key_value_reuse(KernelPart part, const ProblemCut& c, const Coverage& coverage,
                              const DeviceLimits& limits) {
  KeyValueReuse reuse;
  reuse.bytes_once = 2 * c.key_rows * c.columns * c.element_bytes;
  const double l2 = static_cast<double>(limits.l2_bytes);
  reuse.usable_l2 = kSharedL2 * l2;
  if (c.kv_heads == 0) return reuse;
  const double head_blocks = coverage.blocks / c.kv_heads;
  const double heads_at_once = std::clamp(coverage.slots / head_blocks, 1.0, c.kv_heads);
  reuse.working_set = reuse.bytes_once / c.kv_heads * heads_at_once;
  reuse.passes = std::max(1.0, head_blocks / coverage.slots);
  if (part != KernelPart::kFa1Attention || c.longest_tile == 0) {
    if (reuse.working_set > reuse.usable_l2) reuse.lost = 1 - reuse.usable_l2 / reuse.working_set;
    return reuse;
  }
  const bool is_crowded = coverage.blocks > limits.sm_count;
  if (head_blocks <= 1) reuse.usable_l2 = (is_crowded ? kOwnL2OfCrowded : kOwnL2) * l2;
  // A tile of Q and one of O of each block pass through meanwhile.
  const double pass = reuse.working_set + heads_at_once * head_blocks * c.rows * c.columns *
                                              (c.element_bytes + c.output_bytes);
  const double walks = std::max(1.0, c.head_steps / c.longest_tile);
  reuse.passes *= walks;
  reuse.lost = lost_by_walking_back(reuse.usable_l2 / pass, out_of_step(walks));
  return reuse;
}

/// What is left to cross HBM of `bytes` of scores or probabilities, of which L2 keeps some from one
/// kernel to the next.
double beyond_l2(const ProblemCut& c, double bytes, const DeviceLimits& limits) {
  const double l2 = 0.5 * static_cast<double>(limits.l2_bytes);
  const double kept = std::min(1.0, l2 / (4 * score_count(c) + 1));
  return bytes * (1 - 0.8 * kept);
}

}  // namespace

double lost_by_walking_back(double kept, double apart) {
  if (kept >= 1) return 0;
  return (1 - apart) * (1 - kept) + apart * std::sqrt(1 - kept);
}

double score_count(const ProblemCut& c) {
  return c.head_steps / c.tiles * c.keys * c.query_rows;
}

HbmTraffic hbm_traffic(KernelPart part, const KernelConfig& config, const ProblemCut& c,
                       int num_splits, const Coverage& coverage, const DeviceLimits& limits) {
  const double query = c.query_rows * c.columns * c.element_bytes;
  const double output = c.query_rows * c.columns * c.output_bytes;
  // O in fp32, and a PartialRow of each row.
  const double partials =
      config.split_kv ? num_splits * c.query_rows * (4 * c.columns + double{sizeof(PartialRow)})
                      : 0;
  HbmTraffic traffic;
  traffic.reuse = key_value_reuse(part, c, coverage, limits);
  switch (part) {
    case KernelPart::kUnfusedScores:
      traffic.query = query;
      traffic.key_value = traffic.reuse.bytes() / 2;
      traffic.scores_written = beyond_l2(c, 4 * score_count(c), limits);
      break;
    case KernelPart::kUnfusedSoftmax:
      traffic.scores_read = beyond_l2(c, 4 * score_count(c), limits);
      traffic.probabilities_written = beyond_l2(c, 2 * score_count(c), limits);
      break;
    case KernelPart::kUnfusedOutput:
      traffic.probabilities_read = beyond_l2(c, 2 * score_count(c), limits);
      traffic.key_value = traffic.reuse.bytes() / 2;
      traffic.output = output;
      break;
    case KernelPart::kSplitCombine:
      traffic.partials_read = partials;
      traffic.output = output;
      break;
    case KernelPart::kFa1Attention:
    case KernelPart::kFa2Attention:
    case KernelPart::kFa3Attention:
      traffic.query = query;
      traffic.key_value = traffic.reuse.bytes();
      // Splits leave O to the combine kernel.
      (config.split_kv ? traffic.partials_written : traffic.output) =
          config.split_kv ? partials : output;
      break;
    case KernelPart::kReference:
      break;
  }
  return traffic;
}

}  // namespace heddle
