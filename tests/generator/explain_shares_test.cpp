// Where predicted time goes, what a knob changes, and what a generation removes: all add up to
// predict().
#include <algorithm>
#include <catch2/catch.hpp>

#include "generator/explain/generations.hpp"
#include "generator/legality.hpp"
#include "tests/generator/explain_problems.hpp"

namespace heddle {
namespace {

TEST_CASE("Shares of time are the prediction, and none is negative") {
  const auto seed = std::random_device{}();
  for (const auto& [problem, config] : explain_cases(seed)) {
    const TimeShares shares = time_shares(problem, config, explain_device());
    INFO("seed " << seed << ": " << canonical_text(config) << " " << canonical_text(problem.sizes));
    CHECK(shares.total() == Approx(predict(problem, config, explain_device()).seconds));
    for (const double seconds : shares.seconds) CHECK(seconds >= 0);
  }
}

TEST_CASE("SMs without work are no change where they only wait for one") {
  TimeShares before, after;
  before[TimeShare::kSharedMemory] = 1;
  before[TimeShare::kIdle] = 9;
  after[TimeShare::kSharedMemory] = 0.5;
  after[TimeShare::kIdle] = 4.5;
  CHECK(most_shrunk(before, after).share == TimeShare::kSharedMemory);
  CHECK(most_grown(after, before).share == TimeShare::kSharedMemory);
  after[TimeShare::kIdle] = 0;
  CHECK(most_shrunk(before, after).share == TimeShare::kIdle);
  CHECK(most_shrunk(before, after).before == 9);
  CHECK(most_shrunk(before, after).after == 0);
}

TEST_CASE("One block for each of few heads leaves SMs without work") {
  Problem problem;
  problem.sizes = {.batch = 1, .heads = 16, .seqlen_q = 16384, .seqlen_kv = 16384};
  const auto fa1 = best_of_family(problem, Family::kFa1, explain_device());
  CHECK(fa1.explanation.shares.largest() == TimeShare::kIdle);
  CHECK(fa1.explanation.shares[TimeShare::kIdle] / fa1.explanation.shares.total() ==
        Approx(1 - 16 / 132.0).epsilon(0.05));
}

TEST_CASE("The roofline has every ceiling, and the lowest binds") {
  Problem problem;
  problem.sizes = {.batch = 4, .heads = 16, .seqlen_q = 4096, .seqlen_kv = 4096};
  const KernelConfig fa3{.family = Family::kFa3, .tile_m = 128, .tile_n = 128, .warps = 8};
  const Roofline roof = roofline(problem, fa3, explain_device());
  CHECK(roof.flops == flop_count(problem));
  CHECK(roof.issued_flops == Approx(roof.flops));  // 4096 is whole tiles of 128
  CHECK(roof.peak_flops == Approx(4096 * 132 * 1.65e9));
  CHECK(roof.binding == "tensor");
  CHECK(roof.ceilings.size() == 8);
  CHECK(roof.ceilings.front().flops_per_second == Approx(roof.peak_flops));
  CHECK(roof.intensity == Approx(roof.flops / roof.hbm_bytes));

  problem.sizes = {.batch = 4, .heads = 16, .seqlen_q = 16, .seqlen_kv = 4096};
  const Roofline padded = roofline(problem, fa3, explain_device());
  CHECK(padded.issued_flops == Approx(8 * padded.flops));  // 16 of 128 rows
  CHECK(roofline(problem, {.family = Family::kUnfused}, explain_device()).hbm_bytes >
        padded.hbm_bytes);
}

TEST_CASE("Ceilings that are as low as the lowest are named with it") {
  Roofline roof;
  CHECK(lowest_ceilings(roof).empty());
  roof.ceilings = {{"tensor", 2e-3, 0}, {"exp", 1.999e-3, 0}, {"issue", 1.9e-3, 0}};
  CHECK(lowest_ceilings(roof) == "tensor = exp (tie)");
  roof.ceilings[1].seconds = 1.9e-3;
  CHECK(lowest_ceilings(roof) == "tensor");
}

TEST_CASE("What a step owes to packing, to splits and to wgmma is said where it counts") {
  const DeviceLimits& h200 = explain_device();
  Problem decode;
  decode.sizes = {.batch = 1, .heads = 32, .kv_heads = 8, .seqlen_q = 1, .seqlen_kv = 32768};
  const Explanation fa2 = explain(decode, {.family = Family::kFa2, .split_kv = true}, h200);
  KernelConfig config{.family = Family::kFa3, .tile_n = 128, .split_kv = true, .pack_gqa = true};
  const Explanation packed = explain(decode, config, h200);
  config.pack_gqa = false;
  const Explanation single = explain(decode, config, h200);
  const auto causes = [](TimeShare share, const Explanation& before, const Explanation& after) {
    std::string text;
    for (const std::string& cause : share_causes(share, before, after)) text += cause + '\n';
    return text;
  };
  const auto has = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  const std::string shared = causes(TimeShare::kSharedMemory, fa2, packed);
  CHECK(has(shared, "pack_gqa puts the 4 query heads"));
  CHECK(has(shared, "part of its rate"));
  CHECK_FALSE(has(causes(TimeShare::kSharedMemory, fa2, single), "pack_gqa"));
  CHECK(causes(TimeShare::kSharedMemory, single, fa2).empty());
  CHECK(has(causes(TimeShare::kTensor, fa2, single), "wgmma multiplies at 892 TFLOP/s, mma.sync"));
  CHECK(causes(TimeShare::kIdle, fa2, single).empty());
  const Explanation whole = explain(decode, {.family = Family::kFa1}, h200);
  CHECK(has(causes(TimeShare::kIdle, whole, fa2), "splits of the keys"));
}

TEST_CASE("8-bit products have twice the peak") {
  Problem problem;
  problem.sizes = {.batch = 4, .heads = 16, .seqlen_q = 4096, .seqlen_kv = 4096};
  const KernelConfig config{.family = Family::kFa3, .tile_m = 128, .tile_n = 128, .warps = 8};
  const double peak = roofline(problem, config, explain_device()).peak_flops;
  problem.variant.dtype = DataType::kE4m3;
  CHECK(roofline(problem, config, explain_device()).peak_flops == Approx(2 * peak));
}

/// Knobs in which two configs differ.
int differences(const KernelConfig& a, const KernelConfig& b) {
  int count = 0;
  for_each_field(
      a, [&](const auto& knob, const auto& value) { count += value == b.*(knob.member) ? 0 : 1; });
  return count;
}

TEST_CASE("Neighbours are one knob away, judged by legality, the best first") {
  const auto seed = std::random_device{}();
  const auto cases = explain_cases(seed);
  for (std::size_t i = 0; i < cases.size(); i += 29) {  // each looks through all candidates
    const auto& [problem, config] = cases[i];
    INFO("seed " << seed << ": " << canonical_text(config) << " " << canonical_text(problem.sizes));
    double before = 0;
    bool illegal_before = false;
    for (const KnobStep& step : knob_steps(problem, config, explain_device())) {
      INFO(step.change);
      const bool tile = step.config.tile_m != config.tile_m && config.family == Family::kFa3;
      CHECK(differences(step.config, config) == (tile ? 2 : 1));  // its warps follow
      const auto rejection = reject(problem.variant, step.config, explain_device());
      CHECK(rejection.has_value() == !step.illegal.empty());
      CHECK(!(illegal_before && step.illegal.empty()));
      illegal_before = !step.illegal.empty();
      if (illegal_before) continue;
      CHECK(step.seconds == predict(problem, step.config, explain_device()).seconds);
      CHECK(step.seconds >= before);
      before = step.seconds;
    }
  }
}

std::vector<Generation> generations(const Problem& problem) {
  std::vector<Generation> list;
  for (const Family family : {Family::kUnfused, Family::kFa1, Family::kFa2, Family::kFa3}) {
    list.push_back(best_of_family(problem, family, explain_device()));
  }
  return list;
}

TEST_CASE("What each generation removes follows from the problem") {
  Problem problem;
  problem.sizes = {.batch = 11, .heads = 24, .seqlen_q = 4096, .seqlen_kv = 4096};
  const auto many_heads = generation_steps(generations(problem));
  REQUIRE(many_heads.size() == 3);
  CHECK(many_heads[0].bottleneck == TimeShare::kHbm);
  CHECK(many_heads[0].removed.share == TimeShare::kHbm);
  CHECK(many_heads[1].removed.share != TimeShare::kIdle);  // there are heads for all SMs
  CHECK(many_heads[2].gain > 1.3);

  problem.sizes = {.batch = 1, .heads = 16, .seqlen_q = 16384, .seqlen_kv = 16384};
  const auto few_heads = generation_steps(generations(problem));
  REQUIRE(few_heads.size() == 3);
  CHECK(few_heads[0].gain < 1);  // fa1 leaves most SMs idle, which unfused does not
  CHECK(few_heads[0].grown.share == TimeShare::kIdle);
  CHECK(few_heads[1].bottleneck == TimeShare::kIdle);
  CHECK(few_heads[1].removed.share == TimeShare::kIdle);
  CHECK(few_heads[1].removed.after < 0.1 * few_heads[1].removed.before);
}

TEST_CASE("A step's figures are those of the two explanations") {
  const auto problems = explain_problems();
  for (std::size_t i = 0; i < problems.size(); i += 5) {
    const auto list = generations(problems[i]);
    for (const GenerationStep& step : generation_steps(list)) {
      const Explanation& before = list[step.from].explanation;
      const Explanation& after = list[step.to].explanation;
      CHECK(step.gain == Approx(before.prediction.seconds / after.prediction.seconds));
      CHECK(step.removed.before == before.shares[step.removed.share]);
      CHECK(step.removed.after == after.shares[step.removed.share]);
      for (std::size_t k = 0; k < kTimeShareCount; ++k) {
        const bool idle = static_cast<TimeShare>(k) == TimeShare::kIdle;
        CHECK((idle || before.shares.seconds[k] - after.shares.seconds[k] <=
                           step.removed.before - step.removed.after + 1e-12));
        CHECK(before.shares.seconds[k] <= before.shares[step.bottleneck]);
        CHECK_FALSE(share_evidence(static_cast<TimeShare>(k), before).empty());
      }
    }
  }
}

TEST_CASE("A family that cannot run says why, and is stepped over") {
  Problem problem;
  problem.sizes = {.batch = 2, .heads = 8, .seqlen_q = 1024, .seqlen_kv = 1024};
  const DeviceLimits& a100 = find_architecture("sm_80");
  const std::vector<Generation> list{best_of_family(problem, Family::kFa1, a100),
                                     best_of_family(problem, Family::kFa3, a100),
                                     best_of_family(problem, Family::kFa2, a100)};
  CHECK(list[1].impossible.find("sm_90a") != std::string::npos);
  const auto steps = generation_steps(list);
  REQUIRE(steps.size() == 1);
  CHECK(steps[0].from == 0);
  CHECK(steps[0].to == 2);
}

TEST_CASE("An empty problem, and one without keys, are explained") {
  Problem problem;
  problem.sizes = {.batch = 0, .heads = 8, .seqlen_q = 16, .seqlen_kv = 16};
  CHECK(explain(problem, {}, explain_device()).parts.empty());
  problem.sizes = {.batch = 2, .heads = 8, .seqlen_q = 16, .seqlen_kv = 0};
  for (const Family family : {Family::kUnfused, Family::kFa1, Family::kFa2, Family::kFa3}) {
    KernelConfig config{.family = family};
    if (family == Family::kFa3) config.warps = config.tile_m / 16;
    const Explanation facts = explain(problem, config, explain_device());
    INFO(enum_name(family));
    CHECK(std::isfinite(facts.prediction.seconds));
    CHECK(facts.shares.total() == Approx(facts.prediction.seconds));
  }
}

}  // namespace
}  // namespace heddle
