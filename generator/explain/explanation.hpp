#pragma once
// Everything that `heddle explain` says of a problem and a config: pure, from those two and the
// device's limits.

#include <vector>

#include "generator/explain/grid_facts.hpp"
#include "generator/explain/knob_steps.hpp"
#include "generator/explain/memory_facts.hpp"
#include "generator/explain/roofline.hpp"
#include "generator/explain/time_shares.hpp"
#include "generator/explain/timeline.hpp"
#include "generator/explain/warp_roles.hpp"

namespace heddle {

/// One launch.
struct PartExplanation {
  PartLaunch launch;
  PartPrediction prediction;
  BlockMemory memory;
  GridFacts grid;
  std::vector<Role> roles;
  std::vector<Exchange> exchanges;
  Timeline timeline;
};

struct Explanation {
  Problem problem;
  KernelConfig config;
  DeviceLimits limits;
  LaunchPlan plan;
  Prediction prediction;
  std::vector<MemoryItem> hbm;
  std::vector<PartExplanation> parts;  ///< none of an empty problem
  TimeShares shares;
  Roofline roofline;
  std::vector<KnobStep> knob_steps;
};

Explanation explain(const Problem& problem, const KernelConfig& config, const DeviceLimits& limits);

}  // namespace heddle
