#pragma once
// The first key tiles of a block as lanes of spans: each as long as it takes, with gaps so that a
// key tile takes as long as predicted.

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
  double drawn_cycles = 0;  ///< as drawn: with enough waiting to be as long as predicted
  double wait_cycles = 0;   ///< waiting in each of a team's steps that makes it so
  double work_cycles = 0;   ///< as drawn, if nobody had to wait but for tiles and each other
  int steps = 0;            ///< key tiles of a block, on average
  int blocks_left_out = 0;  ///< blocks on the SM that are not drawn
};

Timeline timeline(const Problem& problem, const KernelConfig& config, KernelPart part,
                  const PartPrediction& prediction, const DeviceLimits& limits);

/// How the loop of a part is put together, and how long its pieces take; no waiting.
PipelinePlan pipeline_plan(const Problem& problem, const KernelConfig& config, KernelPart part,
                           const PartPrediction& prediction, const DeviceLimits& limits);

}  // namespace heddle
