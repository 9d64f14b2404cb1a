#pragma once
// What the blocks of one kernel part do, counted; the cost model turns counts into time.

#include "generator/architecture.hpp"
#include "generator/hbm_traffic.hpp"
#include "generator/launch_plan.hpp"

namespace heddle {

/// How the bytes of a step are asked of L2, which decides how fast it delivers them: by cp.async
/// and stores of fragments, or by the TMA and kernels that stream whole rows, with fewer look-ups.
enum class L2Access { kPieces, kRows };

/// One step is one key tile met by one query tile.
struct StepWork {
  double flops = 0;  ///< through the tensor cores, padding included
  double exponentials = 0;
  double warp_instructions = 0;     ///< issued by all warps of the block
  double softmax_instructions = 0;  ///< of those, what is neither a product nor a copy
  double shared_bytes = 0;          ///< ldmatrix reads, cp.async writes, exchanges
  double exchanged_bytes = 0;       ///< of those, what warps write for each other and read
  double l2_bytes = 0;              ///< K and V (or P) asked of L2, S and P given to it
  L2Access l2_access = L2Access::kPieces;
  double stall_cycles = 0;  ///< barriers and load latency that the block itself cannot hide
  double exchange_stall_cycles = 0;  ///< of those, what the exchange waits for
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
  HbmTraffic hbm;              ///< of the whole launch
};

/// The work of launch `index` of the plan.
PartWork count_work(const Problem& problem, const KernelConfig& config, const LaunchPlan& plan,
                    int index, const DeviceLimits& limits);

}  // namespace heddle
