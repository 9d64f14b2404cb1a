#include "generator/explain/explanation.hpp"

namespace heddle {

Explanation explain(const Problem& problem, const KernelConfig& config,
                    const DeviceLimits& limits) {
  Explanation result;
  result.problem = problem;
  result.config = config;
  result.limits = limits;
  result.plan = plan_launch(problem, config, limits);
  result.prediction = predict(problem, config, limits);
  if (result.plan.count == 0) return result;
  result.hbm = hbm_contents(problem, config, result.plan);
  for (int i = 0; i < result.plan.count; ++i) {
    PartExplanation part;
    part.launch = result.plan.launches[static_cast<std::size_t>(i)];
    part.prediction = predict_part(problem, config, result.plan, i, limits);
    part.memory = block_memory(problem.variant, config, part.launch.part, limits);
    part.grid = grid_facts(problem, config, result.plan, part.launch, part.prediction.work, limits);
    part.roles = roles_of(problem.variant, config, part.launch.part);
    part.exchanges = exchanges_of(problem.variant, config, part.launch.part);
    part.timeline = timeline(problem, config, part.launch.part, part.prediction, limits);
    result.parts.push_back(std::move(part));
  }
  result.shares = time_shares(problem, config, limits);
  result.roofline = roofline(problem, config, limits);
  result.knob_steps = knob_steps(problem, config, limits);
  return result;
}

}  // namespace heddle
