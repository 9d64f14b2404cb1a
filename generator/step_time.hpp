#pragma once
// Cycles of a step from its counts.

#include "generator/part_work.hpp"

namespace heddle {

/// Between a load from HBM (0.7 us under load) and one from L2 (0.3 us).
constexpr double kLoadLatencySeconds = 600e-9;

/// Cycles of a step if each resource alone bound it and the whole SM worked on it.
struct StepCycles {
  double tensor = 0, exponential = 0, issue = 0, shared = 0, l2 = 0;
};
StepCycles step_cycles(const StepWork& step, const DeviceLimits& limits);

/// What an SM spends on a step of each of its resident blocks, and on what.
struct StepTime {
  enum class Resource { kTensor, kExponential, kIssue, kShared, kL2 };
  Resource slowest_resource = Resource::kTensor;
  double slowest = 0;  ///< cycles of that resource
  double exposed = 0;  ///< cycles of the others that it does not hide
  double stall = 0;    ///< waiting that no other block fills

  double total() const { return slowest + exposed + stall; }
};
StepTime step_time(const PartWork& work, double resident, const DeviceLimits& limits);

/// All steps of a block, and what it does before and after them.
double cycles_per_block(const PartWork& work, double resident, const DeviceLimits& limits);

}  // namespace heddle
