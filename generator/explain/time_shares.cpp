#include "generator/explain/time_shares.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "generator/step_time.hpp"

namespace heddle {
namespace {

TimeShare share_of(StepTime::Resource resource) {
  switch (resource) {
    case StepTime::Resource::kTensor:
      return TimeShare::kTensor;
    case StepTime::Resource::kExponential:
      return TimeShare::kExponential;
    case StepTime::Resource::kIssue:
      return TimeShare::kIssue;
    case StepTime::Resource::kShared:
      return TimeShare::kSharedMemory;
    case StepTime::Resource::kL2:
      break;
  }
  return TimeShare::kL2;
}

/// Of `busy_seconds` on the SMs: as if the work were spread evenly, and the rest idle.
TimeShares busy_shares(const PartPrediction& part, const PartWork& work, double busy_seconds,
                       const DeviceLimits& limits) {
  const double resident = blocks_at_once(part, limits);
  const StepTime step = step_time(work, resident, limits);
  const double blocks = work.blocks / limits.sm_count / (limits.clock_ghz * 1e9);
  const double steps = blocks * work.mean_steps;
  TimeShares shares;
  shares[share_of(step.slowest_resource)] = steps * step.slowest;
  shares[TimeShare::kOneAfterOther] = steps * step.exposed;
  shares[TimeShare::kWaiting] = steps * step.stall;
  shares[TimeShare::kBlockEnds] = blocks * work.fixed_cycles / resident;
  const double worked = shares.total();
  if (worked > busy_seconds) {
    for (double& seconds : shares.seconds) seconds *= busy_seconds / worked;
  }
  shares[TimeShare::kIdle] = std::max(0.0, busy_seconds - worked);
  return shares;
}

bool waits_as_before(const TimeShares& before, const TimeShares& after) {
  constexpr double kSame = 0.05;
  const double was = before[TimeShare::kIdle] / before.total();
  return std::abs(after[TimeShare::kIdle] / after.total() - was) < kSame;
}

/// The share whose seconds change most in the direction of `sign`.
ShareChange most_changed(const TimeShares& before, const TimeShares& after, double sign) {
  ShareChange most;
  double largest = 0;
  for (std::size_t i = 0; i < kTimeShareCount; ++i) {
    const auto share = static_cast<TimeShare>(i);
    if (share == TimeShare::kIdle && waits_as_before(before, after)) continue;
    const double change = sign * (after[share] - before[share]);
    if (i > 0 && change <= largest) continue;
    largest = change;
    most = {share, before[share], after[share]};
  }
  return most;
}

}  // namespace

ShareChange most_shrunk(const TimeShares& before, const TimeShares& after) {
  return most_changed(before, after, -1);
}

ShareChange most_grown(const TimeShares& before, const TimeShares& after) {
  return most_changed(before, after, 1);
}

double blocks_at_once(const PartPrediction& part, const DeviceLimits& limits) {
  const double spread = std::ceil(part.work.blocks / limits.sm_count);
  return std::clamp(spread, 1.0, static_cast<double>(part.resident));
}

double TimeShares::total() const {
  return std::accumulate(seconds.begin(), seconds.end(), 0.0);
}

TimeShare TimeShares::largest() const {
  return static_cast<TimeShare>(std::max_element(seconds.begin(), seconds.end()) - seconds.begin());
}

TimeShares part_time_shares(const PartPrediction& part, const DeviceLimits& limits) {
  const bool hidden = part.memory_seconds() > part.busy_seconds;
  TimeShares shares = hidden ? busy_shares(part, without_l2(part.work), part.own_seconds, limits)
                             : busy_shares(part, part.work, part.busy_seconds, limits);
  if (hidden) {
    for (double& seconds : shares.seconds) seconds *= kNotHidden;
  }
  const bool by_latency = part.load_latency_seconds > part.hbm_seconds;
  shares[by_latency ? TimeShare::kLoadLatency : TimeShare::kHbm] +=
      (hidden ? 1 : kNotHidden) * part.memory_seconds();
  shares[TimeShare::kLaunch] += part.launch_seconds;
  return shares;
}

TimeShares time_shares(const Problem& problem, const KernelConfig& config,
                       const DeviceLimits& limits) {
  TimeShares shares;
  const LaunchPlan plan = plan_launch(problem, config, limits);
  for (int i = 0; i < plan.count; ++i) {
    const PartPrediction part = predict_part(problem, config, plan, i, limits);
    const TimeShares of_part = part_time_shares(part, limits);
    for (std::size_t k = 0; k < kTimeShareCount; ++k) shares.seconds[k] += of_part.seconds[k];
  }
  return shares;
}

}  // namespace heddle
