#pragma once
// How the blocks of one launch cover batch, heads, queries and splits, and how they fill the
// device.

#include <string>
#include <vector>

#include "generator/cost_model.hpp"
#include "generator/residency.hpp"

namespace heddle {

/// "8 heads": the pieces of work are the product of these.
struct GridFactor {
  std::string name;
  long long count = 0;
};

struct GridFacts {
  std::vector<GridFactor> factors;
  long long pieces = 0;  ///< of work: blocks, or what persistent blocks walk
  long long blocks = 0;  ///< launched
  int threads = 0;
  bool persistent = false;
  bool drawn = false;      ///< persistent blocks draw pieces from a counter
  Residency residency;     ///< blocks an SM could hold
  std::string limited_by;  ///< all that allow no more of them
  int blocks_on_sm = 0;    ///< and does, at most
  long long slots = 0;     ///< places for blocks on the device
  double waves = 0;        ///< pieces / slots
  double last_wave = 0;    ///< share of the slots that the last wave fills
  int sms_used = 0;        ///< at most
  double occupancy = 0;    ///< warps on an SM, of those it could hold
  double mean_steps = 0;   ///< key tiles of a piece, on average and at most
  double longest_steps = 0;
  int packed_heads = 1;
  int tile_queries = 0;  ///< of each head in a tile; 0 where no tile has queries
};

GridFacts grid_facts(const Problem& problem, const KernelConfig& config, const LaunchPlan& plan,
                     const PartLaunch& launch, const PartWork& work, const DeviceLimits& limits);

}  // namespace heddle
