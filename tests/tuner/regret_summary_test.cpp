// What a recording says of searching, on one made by hand: four configs of one family.
#include "tuner/regret_summary.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "generator/candidates.hpp"
#include "tuner/candidate_list.hpp"

namespace heddle {
namespace {

/// The first so many by prediction, at these costs (0 = failed), with samples that do not vary.
Recording by_hand(const std::vector<double>& costs, Family family = Family::kFa3) {
  Recording recording;
  recording.problem.variant.head_dim = 128;
  recording.problem.sizes = {.heads = 16, .seqlen_q = 2048, .seqlen_kv = 2048};
  recording.device = {.capability_major = 9,
                      .capability_minor = 0,
                      .sm_count = 132,
                      .shared_bytes_per_block = 232448,
                      .l2_bytes = 50LL << 20};
  const auto ranked = rank_candidates(recording.problem, limits_of(recording.device), family);
  REQUIRE(ranked.size() >= costs.size());
  for (std::size_t i = 0; i < costs.size(); ++i) {
    Recording::Entry entry;
    entry.config = ranked[i].config;
    if (costs[i] > 0) {
      entry.seconds.assign(6, 1e-3 * costs[i]);
      entry.relative = costs[i];
    } else {
      entry.failure = "made to fail";
    }
    recording.entries.push_back(entry);
  }
  recording.finish();
  return recording;
}

TEST_CASE("Regret is the cost of what is chosen over the best there is") {
  const auto recording = by_hand({1.1, 0, 1.0, 2.0});
  const ProblemRegret regret = problem_regret(recording);
  CHECK(regret.configs == 4);
  CHECK(regret.failed == 1);
  CHECK(regret.fewest_samples == 6);
  CHECK(regret.predicted_first == Approx(0.1));
  CHECK(regret.predicted_eight == Approx(0.0).margin(1e-12));
  CHECK(regret.best == recording.entries[2].config);
  // All four are tried, without noise.
  CHECK(regret.local.mean == Approx(0.0).margin(1e-12));
  CHECK(regret.local.tried == Approx(4));
  CHECK(regret.ranked.worst == Approx(0.0).margin(1e-12));
}

TEST_CASE(
    "A best config that the predictions put last is missed by the first eight and by ranked") {
  std::vector<double> costs(300, 1.0);
  costs.back() = 0.5;
  const ProblemRegret regret = problem_regret(by_hand(costs));
  CHECK(regret.predicted_first == Approx(1.0));
  CHECK(regret.predicted_eight == Approx(1.0));
  CHECK(regret.ranked.mean == Approx(1.0));
  CHECK(regret.ranked.tried < 300);
}

TEST_CASE("The first predicted may have failed: then its regret has no end") {
  CHECK(std::isinf(problem_regret(by_hand({0, 1.0})).predicted_first));
}

TEST_CASE("The default's regret is that of the recorded family's own") {
  const auto recording = by_hand(std::vector<double>(1000, 1.0));
  const auto base = base_config(recording.problem, limits_of(recording.device), {Family::kFa3});
  REQUIRE(base);
  CHECK(base->family == Family::kFa3);
  auto slower = recording;
  bool found = false;
  for (auto& entry : slower.entries) {
    if (!(entry.config == *base)) continue;
    found = true;
    entry.relative = 1.25;
  }
  REQUIRE(found);
  slower.finish();
  CHECK(problem_regret(slower).by_default == Approx(0.25));
}

TEST_CASE("A summary is over problems") {
  const RegretSummary summary =
      summarise({by_hand({1.0, 1.3}), by_hand({1.3, 1.0}), by_hand({1.1, 1.0})});
  REQUIRE(summary.problems.size() == 3);
  CHECK(summary.predicted_first_mean == Approx((0 + 0.3 + 0.1) / 3));
  CHECK(summary.eight_near_share == Approx(1));
  std::vector<double> far(300, 1.2);
  far.back() = 1.0;
  CHECK(summarise({by_hand({1.0}), by_hand(far)}).eight_near_share == Approx(0.5));
}

TEST_CASE("What may be tried is counted in the families that were recorded; the rest is dropped") {
  auto recording = by_hand({1.0, 1.1});
  auto old = recording.entries.front();
  old.config.tile_n = 7;  // of a search space that is no more
  recording.entries.push_back(old);
  keep_legal(recording);
  CHECK(recording.entries.size() == 2);
  CHECK(recording.legal ==
        static_cast<int>(
            rank_candidates(recording.problem, limits_of(recording.device), Family::kFa3).size()));
}

TEST_CASE("A default beside the search space may be tried too: it replaces no other config") {
  Recording recording;
  recording.problem.variant.head_dim = 256;
  recording.problem.sizes = {.heads = 32, .seqlen_q = 2048, .seqlen_kv = 2048};
  recording.device = {.capability_major = 12,
                      .capability_minor = 0,
                      .sm_count = 170,
                      .shared_bytes_per_block = 101376,
                      .l2_bytes = 96LL << 20};
  const auto limits = limits_of(recording.device);
  const auto base = base_config(recording.problem, limits, {Family::kFa2});
  REQUIRE(base);
  const auto space = rank_candidates(recording.problem, limits, Family::kFa2);
  REQUIRE(std::none_of(space.begin(), space.end(),
                       [&](const RankedConfig& ranked) { return ranked.config == *base; }));
  recording.entries.emplace_back().config = *base;
  for (std::size_t i = 1; i < space.size(); ++i) {  // all but one
    recording.entries.emplace_back().config = space[i].config;
  }
  keep_legal(recording);
  CHECK(recording.entries.size() == space.size());
  CHECK(recording.legal == static_cast<int>(space.size()) + 1);
}

}  // namespace
}  // namespace heddle
