// Who wins the last race where plain medians and ratios of times of one round say different things:
// every sample is scripted, so that both are known.
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <random>

#include "tuner/contest.hpp"
#include "tuner/last_race.hpp"
#include "tuner/statistics.hpp"

namespace heddle {
namespace {

constexpr int kSamples = 21;  ///< of the last race, and of no other
constexpr int kRacers = 4;    ///< 0 is the default
constexpr double kUnit = 1e-4;

/// What a candidate takes in a sample of the last race; elsewhere all are alike.
using Script = std::function<double(int id, int sample)>;

class ScriptedRunner final : public CandidateRunner {
 public:
  explicit ScriptedRunner(Script script) : script_(std::move(script)) {}

  CheckOutcome check(const Contestant& contestant) override {
    copied_ = contestant.config.tile_m;  // candidates are numbered by their tiles
    return {CheckRecord{.passed = true}, ""};
  }
  RaceOutcome race(const RaceRound& round) override {
    RaceOutcome outcome;
    for (const int id : round.ids) {
      auto& timing = outcome.timings[id];
      for (int sample = 0; sample < round.samples; ++sample) {
        const int who = id < kRacers ? id : copied_;
        timing.seconds.push_back(kUnit * (round.samples == kSamples ? script_(who, sample) : 1));
      }
      timing.median_seconds = median_interval(timing.seconds).median;
    }
    return outcome;
  }
  void release(int) override {}
  bool usable() const override { return true; }

 private:
  Script script_;
  int copied_ = -1;
};

/// Candidates 0 … kRacers - 1; the later ones are predicted to be slower.
struct LastRace {
  explicit LastRace(const Script& script) : runner(script) {
    candidates.resize(kRacers);
    for (int id = 0; id < kRacers; ++id) {
      candidates[id].id = id;
      candidates[id].config.tile_m = id;
      candidates[id].prediction.seconds = 1 + id;
      candidates[id].kernels = std::make_shared<ConfigKernels>();
    }
  }
  Contest::Result run(const std::vector<int>& order = {0, 1, 2, 3}, bool has_baseline = true) {
    std::vector<Candidate*> racers;
    for (const int id : order) racers.push_back(&candidates[id]);
    return Contest(runner, kSamples).shoot_out(racers, has_baseline ? &candidates[0] : nullptr);
  }
  double plain(int id) const { return candidates[id].timing->median_seconds / kUnit; }

  ScriptedRunner runner;
  std::vector<Candidate> candidates;
};

double drifting(double per_sample, int sample) {
  return std::pow(1 + per_sample, sample);
}

TEST_CASE("A slowing card and a few disturbed samples do not hide who is faster in each round") {
  // 2 is a hundredth faster than 1 wherever nothing disturbs it; the disturbed samples were early
  // ones, taken at a high clock, without which its plain median is a later and slower sample.
  LastRace race([](int id, int sample) {
    constexpr double kTruth[kRacers] = {1.10, 1.01, 1.00, 1.10};
    const bool disturbed = id == 2 && sample < 5;
    return kTruth[id] * drifting(0.01, sample) * (disturbed ? 1.5 : 1);
  });
  const bool has_baseline = GENERATE(true, false);
  const auto result = race.run({0, 1, 2, 3}, has_baseline);
  REQUIRE(race.plain(1) < race.plain(2));
  REQUIRE(result.winner != nullptr);
  CHECK(result.noise == 0);
  CHECK(result.winner->id == 2);
}

TEST_CASE("What equals the fastest but not the default does not take the default's place") {
  // Three clocks, at each of which another is the fastest: 2 beats the default by its median ratio,
  // 1 ties with 2 by theirs, and the default beats 1.
  LastRace race([](int id, int sample) {
    constexpr double kTruth[3][kRacers] = {
        {1.02, 1.00, 1.00, 1.05}, {1.00, 1.01, 1.02, 1.05}, {1.01, 1.02, 1.00, 1.05}};
    return kTruth[sample % 3][id] * drifting(0.0002, sample);
  });
  const auto result = race.run();
  REQUIRE(result.winner != nullptr);
  CHECK(race.plain(2) < race.plain(1));
  CHECK(race.candidates[1].relative > 1.009);
  CHECK(result.winner->id == 2);
  CHECK(result.winner->relative < 0.991);
}

/// Kernels as good as equal on a card that keeps changing its clock, and more at some clocks than
/// at others.
Script restless(unsigned seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<double> normal;
  std::vector<double> times;
  double clock = 1;
  for (int sample = 0; sample < kSamples; ++sample) {
    clock *= 1 + 0.02 * normal(engine);
    for (int id = 0; id < kRacers; ++id) {
      times.push_back((1 - 0.001 * id) * clock * (1 + 0.01 * normal(engine)));
    }
  }
  return [times](int id, int sample) { return times[sample * kRacers + id]; };
}

TEST_CASE("Whatever the clock does, no winner is slower than the default by their ratios") {
  int others_won = 0;
  for (unsigned seed = 1; seed <= 500; ++seed) {
    INFO("seed " << seed);
    LastRace race(restless(seed));
    const auto result = race.run();
    REQUIRE(result.winner != nullptr);
    const bool is_default = result.winner->id == 0;
    CHECK(result.winner->relative <= (is_default ? 1.0 : 0.9999999));
    others_won += is_default ? 0 : 1;
  }
  CHECK(others_won > 50);  // it is no answer to always keep the default
}

TEST_CASE("C73 the same samples crown the same, in whatever order candidates came") {
  const unsigned seed = GENERATE(range(1u, 21u));
  const auto winner_of = [&](const std::vector<int>& order, bool has_baseline) {
    LastRace race(restless(seed));
    for (Candidate& candidate : race.candidates) candidate.prediction.seconds = 1;
    return race.run(order, has_baseline).winner->id;
  };
  CHECK(winner_of({0, 1, 2, 3}, true) == winner_of({3, 1, 2, 0}, true));
  CHECK(winner_of({0, 1, 2, 3}, true) == winner_of({2, 3, 1}, true));
}

TEST_CASE("C73 of equals with equal predictions the same one wins, whoever came first") {
  const auto order = GENERATE(std::vector<int>{0, 1, 2, 3}, std::vector<int>{3, 2, 1, 0});
  const bool has_baseline = GENERATE(true, false);
  LastRace race([](int id, int sample) { return (id == 0 ? 1.1 : 1) * drifting(0.01, sample); });
  for (Candidate& candidate : race.candidates) candidate.prediction.seconds = 1;
  const auto result = race.run(order, has_baseline);
  REQUIRE(result.winner != nullptr);
  CHECK(result.winner->id == 1);
}

TEST_CASE("Whoever fails in whichever round, the control and the default included, the race ends") {
  constexpr int kControl = 99;
  std::mt19937 engine(11);
  std::uniform_real_distribution<double> draw(0, 1);
  for (int course = 0; course < 400; ++course) {
    std::vector<Candidate> candidates(kRacers);
    std::vector<Candidate*> racers;
    for (int id = 0; id < kRacers; ++id) {
      candidates[id].id = id;
      candidates[id].config.tile_m = id + 1;
      racers.push_back(&candidates[id]);
    }
    const bool has_base = course % 3 != 0;
    heddle::LastRace race(racers, has_base ? racers[course % kRacers] : nullptr,
                          course % 5 == 0 ? -1 : kControl);
    std::vector<bool> failed(kControl + 1);
    int rounds = 0;
    for (auto ids = race.next_round(); !ids.empty(); ids = race.next_round()) {
      REQUIRE(++rounds <= heddle::LastRace::kMostRounds);
      RaceOutcome outcome;
      for (const int id : ids) {
        REQUIRE_FALSE(failed[id]);
        failed[id] = draw(engine) < 0.15;
        if (failed[id]) {
          if (id < kRacers) candidates[id].failure = "trap";
          continue;
        }
        for (int i = 0; i < 20; ++i) {
          outcome.timings[id].seconds.push_back(kUnit * (1 + 0.02 * draw(engine)));
        }
      }
      race.add(outcome);
    }
    const Candidate* winner = race.winner();
    CHECK((winner == nullptr) == race.finalists().empty());
    if (winner != nullptr) CHECK_FALSE(failed[winner->id]);
    CHECK(std::isfinite(race.noise()));
  }
}

}  // namespace
}  // namespace heddle
