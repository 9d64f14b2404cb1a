#include "generator/explain/roofline.hpp"

#include <algorithm>

namespace heddle {
namespace {

/// The cost model counts FLOP at the table's rate, which is mma.sync's; fa3 has another.
double issued_flops(const Problem& problem, const KernelConfig& config,
                    const DeviceLimits& limits) {
  double flops = 0;
  const LaunchPlan plan = plan_launch(problem, config, limits);
  for (int i = 0; i < plan.count; ++i) {
    const PartWork work = count_work(problem, config, plan, i, limits);
    flops += work.blocks * work.mean_steps * work.step.flops;
  }
  return flops * tensor_flops_per_clock(config.family, problem.variant.dtype, limits) /
         limits.tensor_flops_per_clock_sm;
}

}  // namespace

Roofline roofline(const Problem& problem, const KernelConfig& config, const DeviceLimits& limits) {
  const Prediction prediction = predict(problem, config, limits);
  Roofline roof;
  roof.flops = flop_count(problem);
  roof.issued_flops = issued_flops(problem, config, limits);
  roof.peak_flops = tensor_flops_per_clock(config.family, problem.variant.dtype, limits) *
                    limits.sm_count * limits.clock_ghz * 1e9;
  roof.hbm_bytes = prediction.hbm_bytes;
  roof.least_bytes = minimal_bytes(problem);
  roof.hbm_rate = limits.hbm_bytes_per_second;
  roof.intensity = roof.hbm_bytes > 0 ? roof.flops / roof.hbm_bytes : 0;
  roof.usable_hbm = kHbmEfficiency * roof.hbm_rate;
  roof.ridge = roof.usable_hbm > 0 ? roof.peak_flops / roof.usable_hbm : 0;
  const std::pair<const char*, double> terms[] = {
      {"tensor", prediction.tensor_seconds},
      {"exp", prediction.exponential_seconds},
      {"issue", prediction.issue_seconds},
      {"shared memory", prediction.shared_memory_seconds},
      {"L2", prediction.l2_seconds},
      {"HBM", prediction.hbm_seconds},
      {"load latency", prediction.load_latency_seconds},
      {"launch", prediction.launch_seconds}};
  for (const auto& [name, seconds] : terms) {
    roof.ceilings.push_back({name, seconds, seconds > 0 ? roof.flops / seconds : 0});
  }
  roof.binding =
      std::max_element(roof.ceilings.begin(), roof.ceilings.end(),
                       [](const Ceiling& a, const Ceiling& b) { return a.seconds < b.seconds; })
          ->name;
  return roof;
}

std::vector<std::string> binding_ceilings(const Roofline& roof) {
  constexpr double kTie = 0.995;
  double longest = 0;
  for (const Ceiling& each : roof.ceilings) longest = std::max(longest, each.seconds);
  std::vector<std::string> names;
  for (const Ceiling& each : roof.ceilings) {
    if (longest > 0 && each.seconds >= kTie * longest) names.push_back(each.name);
  }
  return names;
}

std::string lowest_ceilings(const Roofline& roof) {
  std::string text;
  const auto names = binding_ceilings(roof);
  for (const std::string& name : names) text += (text.empty() ? "" : " = ") + name;
  return names.size() > 1 ? text + " (tie)" : text;
}

}  // namespace heddle
