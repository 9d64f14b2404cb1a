#include "generator/hbm_traffic.hpp"

#include <algorithm>
#include <cmath>

namespace heddle {
namespace {

/// Blocks of a head run at the same time as far as they fit, and then share what is in L2. fa1's
/// one block of a head walks the keys once for each query tile, by itself.
KeyValueReuse key_value_reuse(KernelPart part, const ProblemCut& c, const Coverage& coverage,
                              const DeviceLimits& limits) {
  // The rest holds Q, O and the other slice's copies. Of fa1 at lengths 1024 and 4096 on an H200
  // this predicts 93 to 98 % of the bytes that its counters saw.
  constexpr double kUsableL2 = 0.5;
  KeyValueReuse reuse;
  reuse.bytes_once = 2 * c.key_rows * c.columns * c.element_bytes;
  reuse.usable_l2 = kUsableL2 * static_cast<double>(limits.l2_bytes);
  if (c.kv_heads == 0) return reuse;
  const double head_blocks = coverage.blocks / c.kv_heads;
  const double heads_at_once = std::clamp(coverage.slots / head_blocks, 1.0, c.kv_heads);
  reuse.working_set = reuse.bytes_once / c.kv_heads * heads_at_once;
  if (reuse.working_set > reuse.usable_l2) reuse.lost = 1 - reuse.usable_l2 / reuse.working_set;
  reuse.passes = std::max(1.0, head_blocks / coverage.slots);
  if (part == KernelPart::kFa1Attention && c.longest_tile > 0) {
    reuse.passes *= std::max(1.0, c.head_steps / c.longest_tile);
  }
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
