#pragma once

#include <memory>
#include <vector>

#include "generator/launch_plan.hpp"
#include "runtime/loaded_config.hpp"
#include "runtime/measure.hpp"
#include "tuner/input_sets.hpp"

namespace heddle {

/// A config loaded on the device, with what one launch on each input set needs.
struct Racer {
  std::unique_ptr<LoadedConfig> kernels;
  LaunchPlan plan;
  std::vector<AttentionParameters> parameters;  ///< one per input set
  Timing timing;                                ///< what race() found
};

/// Times the racers interleaved.
void race(Meter& meter, std::vector<Racer>& racers, int samples);

}  // namespace heddle
