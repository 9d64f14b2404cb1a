// Seconds from counts. Rates come from the architecture table; the few fitted constants say what
// they were fitted to.

#include "generator/cost_model.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "generator/residency.hpp"
#include "generator/step_time.hpp"

namespace heddle {
namespace {

/// Launch of a kernel behind another, and of the first with its ramp up and down.
constexpr double kLaunchSeconds = 1.5e-6;
constexpr double kFirstLaunchSeconds = 2.5e-6;

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
  const double longest =
      work.longest_steps * step_time(work, 1, limits).total() + work.fixed_cycles;
  return std::max(even, longest) + (work.longest_first ? 0.1 : 0.5) * longest;
}

/// The bytes at what a plain copy reaches of the datasheet's rate.
double hbm_seconds(const PartWork& work, const DeviceLimits& limits) {
  return work.hbm.total() / (kHbmEfficiency * limits.hbm_bytes_per_second);
}

/// What L2 takes for all that the SMs ask, or, where that is longer, for what passes between them
/// and HBM. Measured: on an H200 at 100 % of lts__throughput, as decoding and the softmax kernel of
/// unfused come to 77 to 93 % of it (the run of tests/cli/unit_shares.hpp), 4.52 to 4.77 TB/s of
/// the datasheet's 4.8 would pass. That is never less than what HBM itself reaches: it binds in the
/// sum of several kernels only, beside others that ask much of L2.
double l2_seconds(const PartWork& work, double cycles, const DeviceLimits& limits) {
  constexpr double kPassing = 0.97;
  const double asked = cycles / (limits.clock_ghz * 1e9);
  return std::max(asked, work.hbm.total() / (kPassing * limits.hbm_bytes_per_second));
}

/// The chain of loads of one block after the other in a slot, of which only so many bytes are under
/// way at a time, each batch for one latency.
double load_latency_seconds(const PartWork& work, int resident, const DeviceLimits& limits) {
  if (work.hbm.total() == 0) return 0;
  const double slots = static_cast<double>(resident) * limits.sm_count;
  const double batches = work.mean_steps * work.step.l2_bytes / work.bytes_in_flight;
  return std::max(1.0, work.blocks / slots) * batches * kLoadLatencySeconds;
}

void add_part(Prediction& total, const PartPrediction& part, const DeviceLimits& limits) {
  const PartWork& work = part.work;
  const double clock = limits.clock_ghz * 1e9;
  const double steps = work.blocks * work.mean_steps;
  const double per_step = steps / std::clamp(work.blocks, 1.0, 1.0 * limits.sm_count) / clock;
  const StepCycles cycles = step_cycles(work.step, limits);
  total.tensor_seconds += per_step * cycles.tensor;
  total.exponential_seconds += per_step * cycles.exponential;
  total.issue_seconds += per_step * cycles.issue;
  total.shared_memory_seconds += per_step * cycles.shared;
  total.l2_seconds += l2_seconds(work, steps / limits.sm_count * cycles.l2, limits);
  total.hbm_seconds += part.hbm_seconds;
  total.load_latency_seconds += part.load_latency_seconds;
  total.hbm_bytes += work.hbm.total();
  total.seconds += part.seconds;
  total.launch_seconds += part.launch_seconds;
  if (total.blocks_per_sm != 0) return;  // the first part is the one that explain talks about
  total.blocks_per_sm = part.resident;
  total.waves = part.waves;
}

std::string_view slowest_term(const Prediction& prediction) {
  const std::array terms{
      std::pair{prediction.tensor_seconds, std::string_view("tensor")},
      std::pair{prediction.exponential_seconds, std::string_view("exponential")},
      std::pair{prediction.issue_seconds, std::string_view("issue")},
      std::pair{prediction.shared_memory_seconds, std::string_view("shared memory")},
      std::pair{prediction.l2_seconds, std::string_view("l2")},
      std::pair{prediction.hbm_seconds, std::string_view("hbm")},
      std::pair{prediction.load_latency_seconds, std::string_view("load latency")},
      std::pair{prediction.launch_seconds, std::string_view("launch")}};
  return std::max_element(terms.begin(), terms.end(),
                          [](const auto& a, const auto& b) { return a.first < b.first; })
      ->second;
}

}  // namespace

PartWork without_l2(PartWork work) {
  work.step.l2_bytes = 0;
  return work;
}

PartPrediction predict_part(const Problem& problem, const KernelConfig& config,
                            const LaunchPlan& plan, int index, const DeviceLimits& limits) {
  PartPrediction part;
  part.work = count_work(problem, config, plan, index, limits);
  part.resident = residency(part.work, limits).blocks;
  part.waves = part.work.blocks / (static_cast<double>(part.resident) * limits.sm_count);
  const double clock = limits.clock_ghz * 1e9;
  part.busy_seconds = busy_cycles(part.work, part.resident, limits) / clock;
  part.own_seconds = busy_cycles(without_l2(part.work), part.resident, limits) / clock;
  part.hbm_seconds = hbm_seconds(part.work, limits);
  part.load_latency_seconds = load_latency_seconds(part.work, part.resident, limits);
  // Loads overlap with work, but a block's first and last ones do not.
  const double memory = part.memory_seconds();
  part.seconds = part.busy_seconds >= memory ? part.busy_seconds + kNotHidden * memory
                                             : memory + kNotHidden * part.own_seconds;
  part.launch_seconds = index == 0 ? kFirstLaunchSeconds : kLaunchSeconds;
  return part;
}

Prediction predict(const Problem& problem, const KernelConfig& config, const DeviceLimits& limits) {
  Prediction prediction;
  prediction.estimated_registers = estimate_registers(problem.variant, config, limits);
  if (is_empty(problem.sizes)) return prediction;
  const LaunchPlan plan = plan_launch(problem, config, limits);
  for (int i = 0; i < plan.count; ++i) {
    add_part(prediction, predict_part(problem, config, plan, i, limits), limits);
  }
  prediction.seconds += prediction.launch_seconds;
  prediction.binding = slowest_term(prediction);
  return prediction;
}

}  // namespace heddle
