// Seconds from counts. Rates come from the architecture table; the few fitted constants say what
// they were fitted to.

#include "generator/cost_model.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "generator/part_work.hpp"

namespace heddle {
namespace {

// Per clock and SM, the same on every architecture of the table (CUDA C++ Programming Guide,
// "Arithmetic instructions": 16 exp2 per clock; four schedulers; 32 banks of 4 bytes).
constexpr double kExponentialsPerClock = 16;
constexpr double kSchedulers = 4;
constexpr double kSharedBytesPerClock = 128;
/// L2 to one SM while all SMs read: about half of the 64 bytes per clock that a slice can deliver.
constexpr double kL2BytesPerClock = 40;

/// Share of the datasheet's bandwidth that a plain copy reaches (H200: 4.4 of 4.8 TB/s).
constexpr double kHbmEfficiency = 0.92;
/// Between a load from HBM (0.7 us under load) and one from L2 (0.3 us).
constexpr double kLoadLatencySeconds = 600e-9;
/// Launch of a kernel behind another, and of the first with its ramp up and down.
constexpr double kLaunchSeconds = 1.5e-6;
constexpr double kFirstLaunchSeconds = 2.5e-6;

struct StepCycles {
  double tensor = 0, exponential = 0, issue = 0, shared = 0, l2 = 0;
};

/// Cycles of a step if each resource alone bound it and the whole SM worked on it.
StepCycles step_cycles(const StepWork& step, const DeviceLimits& limits) {
  return {step.flops / limits.tensor_flops_per_clock_sm, step.exponentials / kExponentialsPerClock,
          step.warp_instructions / kSchedulers, step.shared_bytes / kSharedBytesPerClock,
          step.l2_bytes / kL2BytesPerClock};
}

/// Cycles per step and block of an SM that holds `resident` blocks. A warp does its products and
/// its softmax one after the other; only other warps of its scheduler fill the gaps. So what is not
/// the slowest resource still shows, the less the more warps there are: 3/4 of it with one warp per
/// scheduler, 3/8 with two. (Fitted to FlashAttention-2 on an H200, d 64 and 128: 299 and 345
/// TFLOP/s measured at length 16384, 314 and 345 by this formula.)
double cycles_per_step(const PartWork& work, double resident, const DeviceLimits& limits) {
  const double warps = resident * work.warps;
  const double used = std::min(1.0, warps / kSchedulers);
  const StepCycles full = step_cycles(work.step, limits);
  const double tensor = full.tensor / used;
  const double exponential = full.exponential / used;
  const double issue = full.issue / used;
  const double slowest = std::max({tensor, exponential, issue, full.shared});
  const double others = tensor + exponential + issue + full.shared - slowest;
  const double exposed = std::clamp(0.75 * kSchedulers / warps, 0.1, 1.0);
  return std::max(slowest + exposed * others + work.step.stall_cycles / resident, full.l2);
}

double cycles_per_block(const PartWork& work, double resident, const DeviceLimits& limits) {
  return work.mean_steps * cycles_per_step(work, resident, limits) + work.fixed_cycles / resident;
}

/// Cycles until the last SM is done, blocks being equal: they come in waves, of which the last
/// holds what is left.
double cycles_of_waves(const PartWork& work, int resident, const DeviceLimits& limits) {
  const double slots = static_cast<double>(resident) * limits.sm_count;
  const double waves = std::floor(work.blocks / slots);
  const double left = std::ceil((work.blocks - waves * slots) / limits.sm_count);
  const double last = left > 0 ? left * cycles_per_block(work, left, limits) : 0;
  return waves * resident * cycles_per_block(work, resident, limits) + last;
}

/// Unequal blocks (causal) even out, but end with a tail: as long as half of the longest block on
/// average if that may start last, hardly visible if it starts first.
double busy_cycles(const PartWork& work, int resident, const DeviceLimits& limits) {
  const double even = cycles_of_waves(work, resident, limits);
  if (!work.uneven) return even;
  const double longest = work.longest_steps * cycles_per_step(work, 1, limits) + work.fixed_cycles;
  return std::max(even, longest) + (work.longest_first ? 0.1 : 0.5) * longest;
}

/// The bytes at the datasheet's rate, or the chain of loads of one block after the other in a slot,
/// of which only so many bytes are under way at a time, each batch for one latency.
double hbm_seconds(const PartWork& work, int resident, const DeviceLimits& limits) {
  if (work.hbm_bytes == 0) return 0;
  const double slots = static_cast<double>(resident) * limits.sm_count;
  const double batches = work.mean_steps * work.step.l2_bytes / work.bytes_in_flight;
  const double chain = std::max(1.0, work.blocks / slots) * batches * kLoadLatencySeconds;
  return std::max(work.hbm_bytes / (kHbmEfficiency * limits.hbm_bytes_per_second), chain);
}

void add_part(Prediction& total, const PartWork& work, const DeviceLimits& limits) {
  const int resident = resident_blocks(work, limits);
  const double clock = limits.clock_ghz * 1e9;
  const double steps_per_sm = work.blocks * work.mean_steps / limits.sm_count;
  const double per_step = steps_per_sm / clock;
  const StepCycles cycles = step_cycles(work.step, limits);
  total.tensor_seconds += per_step * cycles.tensor;
  total.exponential_seconds += per_step * cycles.exponential;
  total.issue_seconds += per_step * cycles.issue;
  total.shared_memory_seconds += per_step * cycles.shared;
  total.l2_seconds += per_step * cycles.l2;
  const double hbm = hbm_seconds(work, resident, limits);
  total.hbm_seconds += hbm;
  total.hbm_bytes += work.hbm_bytes;
  const double busy = busy_cycles(work, resident, limits) / clock;
  // Loads overlap with work, but a block's first and last ones do not.
  total.seconds += std::max(busy, hbm) + 0.1 * std::min(busy, hbm);
  if (total.blocks_per_sm != 0) return;  // the first part is the one that explain talks about
  total.blocks_per_sm = resident;
  total.waves = work.blocks / (static_cast<double>(resident) * limits.sm_count);
}

std::string_view slowest_term(const Prediction& prediction) {
  const std::array terms{
      std::pair{prediction.tensor_seconds, std::string_view("tensor")},
      std::pair{prediction.exponential_seconds, std::string_view("exponential")},
      std::pair{prediction.issue_seconds, std::string_view("issue")},
      std::pair{prediction.shared_memory_seconds, std::string_view("shared memory")},
      std::pair{prediction.l2_seconds, std::string_view("l2")},
      std::pair{prediction.hbm_seconds, std::string_view("hbm")},
      std::pair{prediction.launch_seconds, std::string_view("launch")}};
  return std::max_element(terms.begin(), terms.end(),
                          [](const auto& a, const auto& b) { return a.first < b.first; })
      ->second;
}

}  // namespace

Prediction predict(const Problem& problem, const KernelConfig& config, const DeviceLimits& limits) {
  Prediction prediction;
  prediction.estimated_registers = estimate_registers(problem.variant, config, limits);
  if (is_empty(problem.sizes)) return prediction;
  const LaunchPlan plan = plan_launch(problem, config, limits);
  for (int i = 0; i < plan.count; ++i) {
    add_part(prediction, count_work(problem, config, plan, i, limits), limits);
    prediction.launch_seconds += i == 0 ? kFirstLaunchSeconds : kLaunchSeconds;
  }
  prediction.seconds += prediction.launch_seconds;
  prediction.binding = slowest_term(prediction);
  return prediction;
}

}  // namespace heddle
