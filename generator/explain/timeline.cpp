#include "generator/explain/timeline.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "generator/explain/time_shares.hpp"
#include "generator/step_time.hpp"

namespace heddle {
namespace {

constexpr double kDrawnSteps = 4;
constexpr int kMostBlocks = 2;  ///< that are drawn

bool has_tiles(KernelPart part) {
  return part != KernelPart::kUnfusedSoftmax && part != KernelPart::kSplitCombine &&
         part != KernelPart::kReference;
}

/// Cycles from one key tile of a block to its next; of a block that has one, all of it.
double predicted_cycles(const PartPrediction& part, int steps, const DeviceLimits& limits) {
  const PartWork& work = part.work;
  const double at_once = blocks_at_once(part, limits);
  const double steps_of_sm = std::max(1.0, work.blocks * work.mean_steps) / limits.sm_count;
  const double by_hbm = part.memory_seconds() * limits.clock_ghz * 1e9 / steps_of_sm;
  const double on_chip = steps > 1 ? step_time(work, at_once, limits).total()
                                   : cycles_per_block(work, at_once, limits);
  return at_once * std::max(on_chip, by_hbm);
}

/// The waiting of each step with which a key tile takes `cycles`. What a prediction has beyond
/// products, softmax and loads belongs nowhere in particular, so each step of each team waits for
/// its share. None where these alone take longer.
double fitted_wait(PipelinePlan plan, double cycles) {
  constexpr int kHalvings = 24;
  double least = 0;
  double most = cycles;  // a step is no shorter than its waiting
  for (int i = 0; i < kHalvings; ++i) {
    plan.wait = (least + most) / 2;
    (schedule(plan).step_cycles < cycles ? least : most) = plan.wait;
  }
  return least;
}

/// Picks the spans of a lane out of a schedule.
class LaneBuilder {
 public:
  LaneBuilder(Timeline& line, const PipelineSchedule& from) : line_(line), from_(from) {}

  template <class Wanted>
  void add(const std::string& name, Wanted wanted) {
    Lane lane{name, {}};
    for (Span span : from_.spans) {
      if (!wanted(span) || span.begin >= line_.end) continue;
      span.end = std::min(span.end, line_.end);
      lane.spans.push_back(span);
    }
    std::sort(lane.spans.begin(), lane.spans.end(),
              [](const Span& a, const Span& b) { return a.begin < b.begin; });
    line_.lanes.push_back(std::move(lane));
  }

  void add_stages(const std::string& tensor, Activity load, Activity hold, int stages) {
    for (int stage = 0; stage < stages; ++stage) {
      add(fmt::format("{} stage {}", tensor, stage), [&](const Span& span) {
        return (span.activity == load || span.activity == hold) && span.owner == 0 &&
               span.stage == stage;
      });
    }
  }

 private:
  Timeline& line_;
  const PipelineSchedule& from_;
};

bool is_load(Activity activity) {
  return activity == Activity::kLoadKey || activity == Activity::kLoadValue ||
         activity == Activity::kHoldKey || activity == Activity::kHoldValue;
}

bool is_product(Activity activity) {
  return activity == Activity::kQueryKey || activity == Activity::kProbabilityValue;
}

void add_lanes(LaneBuilder& builder, const PipelinePlan& plan, KernelPart part) {
  const bool output = part == KernelPart::kUnfusedOutput;
  builder.add_stages(output ? "P" : "K", Activity::kLoadKey, Activity::kHoldKey, plan.stages);
  if (plan.load_value > 0) {
    builder.add_stages("V", Activity::kLoadValue, Activity::kHoldValue, plan.stages);
  }
  if (part == KernelPart::kFa3Attention) {
    for (int team = 0; team < plan.teams; ++team) {
      builder.add(fmt::format("warpgroup {} products", team), [&](const Span& span) {
        return span.owner == team && is_product(span.activity);
      });
      builder.add(fmt::format("warpgroup {} softmax", team), [&](const Span& span) {
        return span.owner == team && !is_product(span.activity) && !is_load(span.activity);
      });
    }
    return;
  }
  for (int block = 0; block < std::min(plan.teams, kMostBlocks); ++block) {
    builder.add(plan.teams > 1 ? fmt::format("warps, block {}", block) : "warps",
                [&](const Span& span) { return span.owner == block && !is_load(span.activity); });
  }
}

}  // namespace

Timeline timeline(const Problem& problem, const KernelConfig& config, KernelPart part,
                  const PartPrediction& prediction, const DeviceLimits& limits) {
  Timeline line;
  if (!has_tiles(part) || prediction.work.mean_steps <= 0) return line;
  PipelinePlan plan = pipeline_plan(problem, config, part, prediction, limits);
  line.steps = static_cast<int>(std::round(prediction.work.mean_steps));
  line.step_cycles = predicted_cycles(prediction, plan.steps, limits);
  line.work_cycles = schedule(plan).step_cycles;
  line.wait_cycles = fitted_wait(plan, line.step_cycles);
  plan.wait = line.wait_cycles;
  const PipelineSchedule drawn = schedule(plan);
  line.drawn_cycles = drawn.step_cycles;
  const auto first = std::find_if(drawn.spans.begin(), drawn.spans.end(),
                                  [](const Span& span) { return is_product(span.activity); });
  const double begin = first == drawn.spans.end() ? 0 : first->begin;
  line.end = std::min(drawn.end, begin + kDrawnSteps * drawn.step_cycles);
  const int blocks = static_cast<int>(blocks_at_once(prediction, limits));
  line.blocks_left_out =
      std::max(0, blocks - (part == KernelPart::kFa3Attention ? 1 : kMostBlocks));
  LaneBuilder builder(line, drawn);
  add_lanes(builder, plan, part);
  return line;
}

}  // namespace heddle
