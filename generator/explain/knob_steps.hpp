#pragma once
// What the cost model says of configs that are one knob away.

#include <string>
#include <vector>

#include "generator/explain/time_shares.hpp"

namespace heddle {

struct KnobStep {
  KernelConfig config;
  std::string change;   ///< "tile_n 64 -> 96"
  std::string illegal;  ///< why it may not run; then nothing is predicted
  double seconds = 0;
  TimeShares shares;
};

/// Each switch the other way, each number up and down by one of the values that the tuner tries for
/// it. Legal ones first, fastest predicted first; the illegal ones behind.
std::vector<KnobStep> knob_steps(const Problem& problem, const KernelConfig& config,
                                 const DeviceLimits& limits);

}  // namespace heddle
