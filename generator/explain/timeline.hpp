#pragma once
// The first key tiles of a block as lanes of spans, to scale of the predicted cycles.

#include <string>
#include <vector>

#include "generator/cost_model.hpp"
#include "generator/explain/pipeline.hpp"

namespace heddle {

struct Lane {
  std::string name;  ///< "warpgroup 1 softmax", "K stage 0"
  std::vector<Span> spans;
};

struct Timeline {
  std::vector<Lane> lanes;  ///< none for a part that only streams rows
  double end = 0;           ///< of what is drawn, in cycles
  double step_cycles = 0;   ///< of a key tile once the pipeline is full, as predicted
  double schedule_cycles =
      0;                    ///< the same by the schedule alone: what the drawing was stretched from
  int steps = 0;            ///< key tiles of a block, on average
  int blocks_left_out = 0;  ///< blocks on the SM that are not drawn
};

Timeline timeline(const Problem& problem, const KernelConfig& config, KernelPart part,
                  const PartPrediction& prediction, const DeviceLimits& limits);

/// How the loop of a part is put together, and how long its pieces take.
PipelinePlan pipeline_plan(const Problem& problem, const KernelConfig& config, KernelPart part,
                           const PartPrediction& prediction, const DeviceLimits& limits);

}  // namespace heddle
