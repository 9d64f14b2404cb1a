#pragma once
// What the blocks of fa3 do, counted for the cost model.

#include "generator/part_work.hpp"

namespace heddle {

/// Query tiles of all heads and how many key tiles each meets on average.
struct TileCount {
  double tiles = 0;
  double mean_steps = 0;
  int num_splits = 1;
};

/// Fills in everything but blocks and traffic with HBM. `step` is an fa2 step of the same
/// tiles.
void count_fa3(PartWork& work, const Problem& problem, const KernelConfig& config,
               const DeviceLimits& limits, const TileCount& count, const StepWork& step);

}  // namespace heddle
