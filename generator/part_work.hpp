#pragma once
// What the blocks of one kernel part do, counted; the cost model turns counts into time.

#include "generator/architecture.hpp"
#include "generator/launch_plan.hpp"

namespace heddle {

/// One step is one key tile met by one query tile.
struct StepWork {
  double flops = 0;  ///< through the tensor cores, padding included
  double exponentials = 0;
  double warp_instructions = 0;  ///< issued by all warps of the block
  double shared_bytes = 0;       ///< ldmatrix reads, cp.async writes, exchanges
  double l2_bytes = 0;           ///< K and V (or P) requested from L2
  double stall_cycles = 0;       ///< barriers and load latency that the block itself cannot hide
};

struct PartWork {
  double blocks = 0;
  int warps = 0;
  int shared_bytes = 0;   ///< per block
  int registers = 0;      ///< per thread
  double mean_steps = 0;  ///< per block
  double longest_steps = 0;
  bool uneven = false;  ///< blocks differ in steps
  bool longest_first = true;
  StepWork step;
  double fixed_cycles = 2500;  ///< per block: first loads of Q and K, the stores of O
  double bytes_in_flight = 0;  ///< per block, asked for ahead of use
  double hbm_bytes = 0;        ///< of the whole launch
};

/// The work of launch `index` of the plan.
PartWork count_work(const Problem& problem, const KernelConfig& config, const LaunchPlan& plan,
                    int index, const DeviceLimits& limits);

/// Blocks of a part that are resident on an SM at once; at least 1 (a config that does not fit is
/// not legal).
int resident_blocks(const PartWork& work, const DeviceLimits& limits);

}  // namespace heddle
