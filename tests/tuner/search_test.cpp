// Strategies on landscapes whose best is known. The figures are made up: they show that a strategy
// searches, not how well it does on a GPU (replay_test.cpp is for recordings).
#include "tuner/search.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <set>

namespace heddle {
namespace {

constexpr int kValues = 5;
constexpr std::size_t kSize = 625;  // four knobs of five values
const double kFailure = std::numeric_limits<double>::infinity();

int knob(std::size_t position, int which) {
  return static_cast<int>(position / static_cast<std::size_t>(std::pow(kValues, which))) % kValues;
}

std::vector<std::size_t> neighbours(std::size_t position) {
  std::vector<std::size_t> near;
  for (std::size_t other = 0; other < kSize; ++other) {
    int differences = 0;
    for (int which = 0; which < 4; ++which)
      differences += knob(position, which) != knob(other, which);
    if (differences == 1) near.push_back(other);
  }
  return near;
}

using Cost = std::function<double(std::size_t)>;

/// Each knob has a best value of its own.
double separable(std::size_t position) {
  double cost = 1;
  for (int which = 0; which < 4; ++which) {
    cost += 0.1 * std::abs(knob(position, which) - (which + 1) % kValues);
  }
  return cost;
}

struct Outcome {
  std::vector<std::size_t> order;
  std::size_t best = 0;
  double best_cost = kFailure;
};

/// `ahead` are under way at once, as when compiling.
Outcome run(Strategy strategy, const Cost& cost, std::vector<std::size_t> seeds = {},
            int ahead = 1) {
  const auto search = make_strategy(strategy, {kSize, std::move(seeds), neighbours, 7});
  Outcome outcome;
  std::vector<std::size_t> under_way;
  while (true) {
    while (static_cast<int>(under_way.size()) < ahead) {
      const auto next = search->next();
      if (!next) break;
      under_way.push_back(*next);
    }
    if (under_way.empty()) return outcome;
    const std::size_t tried = under_way.front();
    under_way.erase(under_way.begin());
    outcome.order.push_back(tried);
    const double found = cost(tried);
    search->notify(tried, found);
    if (found < outcome.best_cost) outcome.best = tried, outcome.best_cost = found;
  }
}

TEST_CASE("Every strategy tries nothing twice, and the seeds first") {
  const Strategy strategy =
      GENERATE(Strategy::kExhaustive, Strategy::kRanked, Strategy::kLocal, Strategy::kRandom);
  const int ahead = GENERATE(1, 4);
  const auto outcome = run(strategy, separable, {400, 3, 400}, ahead);
  const std::set<std::size_t> different(outcome.order.begin(), outcome.order.end());
  CHECK(different.size() == outcome.order.size());
  REQUIRE(outcome.order.size() >= 2);
  CHECK(outcome.order[0] == 400);
  CHECK(outcome.order[1] == 3);
}

TEST_CASE("Exhaustive tries all in their order") {
  const auto outcome = run(Strategy::kExhaustive, separable);
  REQUIRE(outcome.order.size() == kSize);
  CHECK(std::is_sorted(outcome.order.begin(), outcome.order.end()));
}

TEST_CASE("Ranked stops a stretch after the last improvement") {
  const auto good_prediction = [](std::size_t position) {
    return position == 10 ? 1.0 : 2 + 0.01 * static_cast<double>(position);
  };
  const auto outcome = run(Strategy::kRanked, good_prediction);
  CHECK(outcome.best == 10);
  CHECK(outcome.order.size() == 10 + 1 + kSize / 8);
  // What is better by less than noise does not prolong it.
  const auto creeping = [](std::size_t position) {
    return 1 - 1e-6 * static_cast<double>(position);
  };
  CHECK(run(Strategy::kRanked, creeping).order.size() == 1 + kSize / 8);
}

TEST_CASE("Local search finds the best of independent knobs with few trials, failures or not") {
  const std::size_t first = GENERATE(0u, 77u, 624u);
  const int ahead = GENERATE(1, 6);
  const auto with_holes = [](std::size_t position) {
    return position % 7 == 3 ? kFailure : separable(position);
  };
  double best = kFailure;
  for (std::size_t position = 0; position < kSize; ++position) {
    best = std::min(best, with_holes(position));
  }
  const auto outcome = run(Strategy::kLocal, with_holes, {first}, ahead);
  CHECK(outcome.best_cost == best);
  CHECK(outcome.order.size() < kSize / 2);
}

TEST_CASE("Local search ends where everything fails") {
  CHECK(run(Strategy::kLocal, [](std::size_t) { return kFailure; }).order.size() < kSize);
}

TEST_CASE("Random draws a tenth, by its seed") {
  const auto outcome = run(Strategy::kRandom, separable);
  CHECK(outcome.order.size() == kSize / 10);
  CHECK_FALSE(std::is_sorted(outcome.order.begin(), outcome.order.end()));
  CHECK(outcome.order == run(Strategy::kRandom, separable).order);
}

TEST_CASE("A space of one, and of none") {
  for (const Strategy strategy :
       {Strategy::kExhaustive, Strategy::kRanked, Strategy::kLocal, Strategy::kRandom}) {
    const auto nobody = [](std::size_t) { return std::vector<std::size_t>{}; };
    const auto empty = make_strategy(strategy, {0, {}, nobody, 1});
    CHECK_FALSE(empty->next());
    const auto single = make_strategy(strategy, {1, {0}, nobody, 1});
    CHECK(single->next() == std::size_t{0});
    single->notify(0, 1);
    CHECK_FALSE(single->next());
  }
}

}  // namespace
}  // namespace heddle
