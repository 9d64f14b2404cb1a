// Schedules: what may overlap does, what must not does not, in the order of the templates.
#include "generator/explain/pipeline.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>

#include "generator/explain/explanation.hpp"
#include "tests/generator/explain_problems.hpp"

namespace heddle {
namespace {

PipelinePlan two_warpgroups() {
  PipelinePlan plan;
  plan.teams = 2;
  plan.shared_rings = true;
  plan.stages = 2;
  plan.steps = 8;
  plan.order = LoopOrder::kOverlapped;
  plan.query_key = plan.probability_value = 500;
  plan.softmax = 700;
  plan.wait = 100;
  plan.load_key = plan.load_value = 300;
  plan.load_latency = 900;
  return plan;
}

bool is_product(const Span& span) {
  return span.activity == Activity::kQueryKey || span.activity == Activity::kProbabilityValue;
}

std::vector<Span> of(const PipelineSchedule& all, Activity activity, int owner) {
  std::vector<Span> spans;
  for (const Span& span : all.spans) {
    if (span.activity == activity && span.owner == owner) spans.push_back(span);
  }
  std::sort(spans.begin(), spans.end(),
            [](const Span& a, const Span& b) { return a.begin < b.begin; });
  return spans;
}

double overlap(const Span& a, const Span& b) {
  return std::max(0.0, std::min(a.end, b.end) - std::max(a.begin, b.begin));
}

/// What holds of every schedule.
void check_order(const PipelinePlan& plan, const PipelineSchedule& all) {
  std::vector<Span> products;
  for (const Span& span : all.spans) {
    CHECK(span.end > span.begin);
    if (is_product(span)) products.push_back(span);
  }
  std::sort(products.begin(), products.end(),
            [](const Span& a, const Span& b) { return a.begin < b.begin; });
  for (std::size_t i = 1; i < products.size(); ++i) {
    CHECK(products[i].begin >= products[i - 1].end - 1e-3);  // one set of tensor cores
  }
  for (int team = 0; team < plan.teams; ++team) {
    const auto first = of(all, Activity::kQueryKey, team);
    const auto softmax = of(all, Activity::kSoftmax, team);
    const auto second = of(all, Activity::kProbabilityValue, team);
    for (const auto* spans : {&first, &softmax, &second}) {
      for (std::size_t i = 1; i < spans->size(); ++i) {
        CHECK((*spans)[i].step >= (*spans)[i - 1].step);
      }
    }
    const std::size_t rounds = std::min({first.size(), softmax.size(), second.size()});
    for (std::size_t i = 0; i < rounds; ++i) {
      CHECK(softmax[i].begin >= first[i].end - 1e-3);
      CHECK(second[i].begin >= softmax[i].end - 1e-3);
    }
  }
}

/// A stage holds one tile at a time, and nobody multiplies it before it is there.
void check_stages(const PipelinePlan& plan, const PipelineSchedule& all) {
  const std::tuple<Activity, Activity, Activity> rings[] = {
      {Activity::kLoadKey, Activity::kHoldKey, Activity::kQueryKey},
      {Activity::kLoadValue, Activity::kHoldValue, Activity::kProbabilityValue}};
  for (const auto& [load, hold, use] : rings) {
    for (int ring = 0; ring < (plan.shared_rings ? 1 : plan.teams); ++ring) {
      std::map<int, double> landed;
      std::map<int, double> stage_free;
      for (const Span& span : of(all, load, ring)) {
        CHECK(span.begin >= stage_free[span.stage] - 1e-3);
        landed[span.step] = span.end;
        for (const Span& held : of(all, hold, ring)) {
          if (held.step == span.step) stage_free[span.stage] = held.end;
        }
      }
      for (int team = 0; team < plan.teams; ++team) {
        if (!plan.shared_rings && team != ring) continue;
        for (const Span& span : of(all, use, team)) CHECK(span.begin >= landed[span.step] - 1e-3);
      }
    }
  }
}

/// Cycles that products of a team run beside its own softmax.
double own_overlap(const PipelineSchedule& all, int team) {
  double cycles = 0;
  for (const Span& softmax : of(all, Activity::kSoftmax, team)) {
    for (const Activity product : {Activity::kQueryKey, Activity::kProbabilityValue}) {
      for (const Span& span : of(all, product, team)) cycles += overlap(softmax, span);
    }
  }
  return cycles;
}

TEST_CASE("Two warpgroups keep the tensor cores busy, and one does not") {
  PipelinePlan plan = two_warpgroups();
  const PipelineSchedule two = schedule(plan);
  check_order(plan, two);
  check_stages(plan, two);
  CHECK(two.step_cycles == Approx(2000).epsilon(0.01));  // four products of 500, nothing between
  plan.teams = 1;
  const PipelineSchedule one = schedule(plan);
  check_order(plan, one);
  CHECK(one.step_cycles > 1000);
  CHECK(one.step_cycles < 500 + 500 + 700 + 100);  // P V runs beside softmax
}

TEST_CASE("Overlap is inside a warpgroup only where the config has it") {
  PipelinePlan plan = two_warpgroups();
  CHECK(own_overlap(schedule(plan), 0) > 500);
  plan.order = LoopOrder::kInTurn;
  const PipelineSchedule in_turn = schedule(plan);
  check_order(plan, in_turn);
  check_stages(plan, in_turn);
  CHECK(own_overlap(in_turn, 0) == 0);
  plan.teams = 1;
  PipelinePlan overlapped = plan;
  overlapped.order = LoopOrder::kOverlapped;
  CHECK(schedule(overlapped).step_cycles < schedule(plan).step_cycles);
}

TEST_CASE("With ping-pong the warpgroups start their products by turns") {
  PipelinePlan plan = two_warpgroups();
  plan.turns = true;
  const PipelineSchedule all = schedule(plan);
  check_order(plan, all);
  std::vector<Span> starts;
  for (int team : {0, 1}) {
    const auto spans = of(all, Activity::kQueryKey, team);
    starts.insert(starts.end(), spans.begin(), spans.end());
  }
  std::sort(starts.begin(), starts.end(),
            [](const Span& a, const Span& b) { return a.begin < b.begin; });
  REQUIRE(starts.size() == 16);
  for (std::size_t i = 0; i < starts.size(); ++i) CHECK(starts[i].owner == static_cast<int>(i % 2));
}

TEST_CASE("More stages hide more of a load") {
  PipelinePlan plan;
  plan.steps = 8;
  plan.query_key = plan.probability_value = 300;
  plan.softmax = 200;
  plan.load_key = plan.load_value = 100;
  plan.load_latency = 1500;
  double before = 1e9;
  for (const int stages : {1, 2, 4}) {
    plan.stages = stages;
    const PipelineSchedule all = schedule(plan);
    check_order(plan, all);
    check_stages(plan, all);
    CHECK(all.step_cycles < before);
    before = all.step_cycles;
  }
  CHECK(before == Approx(800));  // all of it
}

TEST_CASE("Softmax of teams at the same time takes longer, products wait for each other") {
  PipelinePlan plan;
  plan.steps = 6;
  plan.softmax = 1000;
  plan.query_key = plan.probability_value = 10;
  plan.load_key = plan.load_value = 1;
  plan.stages = 2;
  const double alone = schedule(plan).step_cycles;
  plan.teams = 3;
  CHECK(schedule(plan).step_cycles == Approx(3 * 1000).epsilon(0.05));
  CHECK(alone == Approx(1020).epsilon(0.01));
}

TEST_CASE("A ring without stages is an error, not a hang") {
  PipelinePlan plan = two_warpgroups();
  plan.stages = 0;
  CHECK_THROWS_AS(schedule(plan), Error);
}

TEST_CASE("Timelines of every family: roles, order, and the predicted step") {
  const auto seed = std::random_device{}();
  for (const auto& [problem, config] : explain_cases(seed)) {
    const LaunchPlan launch = plan_launch(problem, config, explain_device());
    for (int i = 0; i < launch.count; ++i) {
      const KernelPart part = launch.launches[static_cast<std::size_t>(i)].part;
      const auto prediction = predict_part(problem, config, launch, i, explain_device());
      const Timeline line = timeline(problem, config, part, prediction, explain_device());
      INFO("seed " << seed << ": " << canonical_text(config) << " " << canonical_text(problem.sizes)
                   << " " << enum_name(part));
      const bool tiles = part != KernelPart::kUnfusedSoftmax && part != KernelPart::kSplitCombine;
      CHECK(line.lanes.empty() != tiles);
      if (!tiles) continue;
      const auto plan = pipeline_plan(problem, config, part, prediction, explain_device());
      const PipelineSchedule all = schedule(plan);
      check_order(plan, all);
      check_stages(plan, all);
      CHECK(line.step_cycles > 0);
      CHECK(line.end > 0);
      std::size_t spans = 0;
      for (const Lane& lane : line.lanes) {
        spans += lane.spans.size();
        for (const Span& span : lane.spans) CHECK(span.end <= line.end * (1 + 1e-9));
      }
      CHECK(spans > 0);
    }
  }
}

const Lane& lane_of(const Timeline& line, const std::string& name) {
  const auto lane = std::find_if(line.lanes.begin(), line.lanes.end(),
                                 [&](const Lane& each) { return each.name == name; });
  REQUIRE(lane != line.lanes.end());
  return *lane;
}

Explanation long_heads(const KernelConfig& config) {
  Problem problem;
  problem.sizes = {.batch = 4, .heads = 16, .seqlen_q = 8192, .seqlen_kv = 8192};
  return explain(problem, config, explain_device());
}

TEST_CASE("A timeline is to scale: its key tiles come at the predicted pace") {
  const auto facts = long_heads({.family = Family::kFa3, .tile_m = 128, .tile_n = 128, .warps = 8});
  const Timeline& line = facts.parts.front().timeline;

  // 64 key tiles of each of 4096 query tiles on 132 SMs, at 1.65 GHz: what the prediction spends on
  // them.
  const double seconds = line.step_cycles * 64 * 4096 / 132 / 1.65e9;
  const double tensor = facts.shares[TimeShare::kTensor];
  CHECK(seconds == Approx(tensor + facts.shares[TimeShare::kOneAfterOther] +
                          facts.shares[TimeShare::kWaiting]));
  CHECK(line.drawn_cycles == Approx(line.step_cycles).epsilon(0.005));
  CHECK(line.work_cycles < line.step_cycles);
  const auto& products = lane_of(line, "warpgroup 0 products").spans;
  REQUIRE(products.size() > 4);
  CHECK(products[3].begin - products[1].begin == Approx(line.step_cycles).epsilon(0.1));

  // 64 x 128 scores of head_dim 128 at 4096 FLOP a clock: no more, whatever a step takes.
  REQUIRE(products.front().activity == Activity::kQueryKey);
  CHECK(products.front().end - products.front().begin == Approx(2.0 * 64 * 128 * 128 / 4096));
  // So that the tensor cores idle in the drawing as much as they do in the shares.
  CHECK(4 * 512 / line.drawn_cycles == Approx(tensor / seconds).epsilon(0.01));
}

TEST_CASE("A warpgroup's P V is drawn beside its softmax only where the config overlaps them") {
  KernelConfig config{.family = Family::kFa3, .tile_m = 192, .tile_n = 80, .warps = 12};
  config.stages = 3;
  const auto beside = [&](Activity product) {
    const Explanation facts = long_heads(config);
    const Timeline& line = facts.parts.front().timeline;
    double cycles = 0;
    for (const Span& softmax : lane_of(line, "warpgroup 0 softmax").spans) {
      if (softmax.activity != Activity::kSoftmax) continue;
      for (const Span& span : lane_of(line, "warpgroup 0 products").spans) {
        if (span.activity == product) cycles += overlap(softmax, span);
      }
    }
    return cycles;
  };
  CHECK(beside(Activity::kProbabilityValue) > 300);  // of three softmaxes and their P V
  CHECK(beside(Activity::kQueryKey) == 0);
  config.overlap = Overlap::kNone;
  CHECK(beside(Activity::kProbabilityValue) == 0);
  CHECK(beside(Activity::kQueryKey) == 0);
}

TEST_CASE("Roles have the lanes that their knobs make") {
  Problem problem;
  problem.sizes = {.batch = 4, .heads = 16, .seqlen_q = 2048, .seqlen_kv = 2048};
  const auto names = [&](const KernelConfig& config) {
    std::vector<std::string> list;
    const auto facts = explain(problem, config, explain_device());
    for (const Lane& lane : facts.parts.front().timeline.lanes) list.push_back(lane.name);
    return list;
  };
  CHECK(names({.family = Family::kFa3, .tile_m = 128, .tile_n = 64, .warps = 8}) ==
        std::vector<std::string>{"K stage 0", "K stage 1", "V stage 0", "V stage 1",
                                 "warpgroup 0 products", "warpgroup 0 softmax",
                                 "warpgroup 1 products", "warpgroup 1 softmax"});
  CHECK(names({.family = Family::kUnfused, .stages = 1}).front() == "K stage 0");
  const auto fa1 = names({.family = Family::kFa1, .stages = 1});
  CHECK(fa1 == std::vector<std::string>{"K stage 0", "V stage 0", "warps"});
}

}  // namespace
}  // namespace heddle
