#include "generator/step_time.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace heddle {
namespace {

// Per clock and SM, the same on every architecture of the table (CUDA C++ Programming Guide,
// "Arithmetic instructions": 16 exp2 per clock; four schedulers; 32 banks of 4 bytes).
constexpr double kExponentialsPerClock = 16;
constexpr double kSchedulers = 4;
constexpr double kSharedBytesPerClock = 128;
// L2 to and from one SM while all SMs ask, at 100 % of what its counters (lts__throughput) call its
// peak. Measured on an H200 (the run of tests/cli/unit_shares.hpp); other GPUs are taken to have as
// much for each SM.
/// In pieces its look-ups bind (lts__t_tag_requests), and its clock does not follow the SMs': the
/// scores kernel of unfused, length 4096, d 128, moves 5.73 TB/s at 86 %, the output kernel 5.13
/// at 76 %.
constexpr double kPieceBytesPerSecond = 6.7e12 / 132;
/// In rows: fa3's kernels would move 49 to 59 bytes a clock at 100 %; 60 % is the most that one
/// comes to, so that what is left of it near 100 % is not measured, but set.
constexpr double kRowBytesPerClock = 40;

double l2_bytes_per_clock(L2Access access, const DeviceLimits& limits) {
  if (access == L2Access::kRows) return kRowBytesPerClock;
  return kPieceBytesPerSecond / (limits.clock_ghz * 1e9);
}

}  // namespace

StepCycles step_cycles(const StepWork& step, const DeviceLimits& limits) {
  return {step.flops / limits.tensor_flops_per_clock_sm, step.exponentials / kExponentialsPerClock,
          step.warp_instructions / kSchedulers, step.shared_bytes / kSharedBytesPerClock,
          step.l2_bytes / l2_bytes_per_clock(step.l2_access, limits)};
}

/// A warp does its products and its softmax one after the other; only other warps of its scheduler
/// fill the gaps. So what is not the slowest resource still shows, the less the more warps there
/// are: 3/4 of it with one warp per scheduler, 3/8 with two. (Fitted to FlashAttention-2 on an
/// H200, d 64 and 128: 299 and 345 TFLOP/s measured at length 16384, 314 and 345 by this formula.)
StepTime step_time(const PartWork& work, double resident, const DeviceLimits& limits) {
  using Resource = StepTime::Resource;
  const double warps = resident * work.warps;
  const double used = std::min(1.0, warps / kSchedulers);
  const StepCycles full = step_cycles(work.step, limits);
  const std::pair<double, Resource> on_chip[] = {{full.tensor / used, Resource::kTensor},
                                                 {full.exponential / used, Resource::kExponential},
                                                 {full.issue / used, Resource::kIssue},
                                                 {full.shared, Resource::kShared}};
  const auto slowest = *std::max_element(std::begin(on_chip), std::end(on_chip));
  double others = -slowest.first;
  for (const auto& [cycles, resource] : on_chip) others += cycles;
  StepTime time{slowest.second, slowest.first, 0, 0};
  time.exposed = std::clamp(0.75 * kSchedulers / warps, 0.1, 1.0) * others;
  time.stall = work.step.stall_cycles / resident;
  if (full.l2 > time.total()) return {Resource::kL2, full.l2, 0, 0};
  return time;
}

double cycles_per_block(const PartWork& work, double resident, const DeviceLimits& limits) {
  return work.mean_steps * step_time(work, resident, limits).total() + work.fixed_cycles / resident;
}

}  // namespace heddle
