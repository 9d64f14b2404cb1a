// Who wins a race that is all noise and drift, by a runner that makes up its times.
#include "tuner/contest.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <set>

#include "tuner/last_race.hpp"
#include "tuner/statistics.hpp"

namespace heddle {
namespace {

/// Times with noise, on a card that slows down from round to round and within them.
class NoisyRunner final : public CandidateRunner {
 public:
  NoisyRunner(double noise, double drift, unsigned seed)
      : noise_(noise), drift_(drift), engine_(seed) {}

  std::map<int, double> seconds;  ///< of each candidate; the control is a copy of `copied`
  std::map<int, std::string> fails;
  std::map<int, int> fails_from_round;
  std::set<int> released;
  std::map<int, double> luck;  ///< factors of the next round's times alone
  std::vector<int> raced;      ///< in the last round
  int rounds = 0;
  int copied = -1;

  CheckOutcome check(const Contestant& contestant) override {
    copied = contestant.config.tile_m;  // tests number candidates by their tiles
    seconds[contestant.id] = seconds.at(copied);
    return {CheckRecord{.passed = true}, ""};
  }
  RaceOutcome race(const RaceRound& round) override {
    ++rounds;
    raced = round.ids;
    for (const int id : round.ids) {
      if (released.count(id) > 0) throw std::logic_error("raced after its release");
      const auto falls = fails_from_round.find(id);
      if (falls != fails_from_round.end() && rounds >= falls->second) fails[id] = "fell over";
    }
    RaceOutcome outcome;
    std::normal_distribution<double> normal;
    for (int sample = 0; sample < round.samples; ++sample) {
      slowness_ *= 1 + drift_;
      for (const int id : round.ids) {
        if (fails.count(id) > 0) continue;
        const double factor = slowness_ * (1 + noise_ * std::abs(normal(engine_)));
        const double lucky = luck.count(id) > 0 ? luck.at(id) : 1;
        outcome.timings[id].seconds.push_back(seconds.at(id) * factor * lucky);
      }
    }
    luck.clear();
    for (auto& [id, timing] : outcome.timings) {
      timing.median_seconds = quantile(timing.seconds, 0.5);
    }
    for (const int id : round.ids) {
      if (fails.count(id) > 0) outcome.failures[id] = fails.at(id);
    }
    return outcome;
  }
  void release(int id) override { released.insert(id); }
  bool usable() const override { return true; }

 private:
  double noise_, drift_;
  double slowness_ = 1;
  std::mt19937 engine_;
};

/// Candidates 0, 1, …: the later ones are predicted to be slower.
struct Field {
  Field(NoisyRunner& runner, const std::vector<double>& seconds) {
    candidates.resize(seconds.size());
    for (std::size_t i = 0; i < seconds.size(); ++i) {
      candidates[i].id = static_cast<int>(i);
      candidates[i].config.tile_m = static_cast<int>(i);
      candidates[i].prediction.seconds = 1 + static_cast<double>(i);
      candidates[i].kernels = std::make_shared<ConfigKernels>();
      runner.seconds[static_cast<int>(i)] = seconds[i];
    }
  }
  std::vector<Candidate*> pointers(std::size_t first, std::size_t last) {
    std::vector<Candidate*> list;
    for (std::size_t i = first; i < last; ++i) list.push_back(&candidates[i]);
    return list;
  }
  std::vector<Candidate*> near(const Contest& contest) {
    std::vector<Candidate*> list;
    for (Candidate& candidate : candidates) {
      if (candidate.failure.empty() && contest.is_near(candidate)) list.push_back(&candidate);
    }
    return list;
  }
  std::vector<Candidate> candidates;
};

Contest::Result tune(NoisyRunner& runner, Field& field, Candidate* baseline) {
  Contest contest(runner, 30);
  contest.screen(field.pointers(0, 1));
  for (std::size_t i = 1; i < field.candidates.size(); i += 4) {
    contest.screen(field.pointers(i, std::min(i + 4, field.candidates.size())));
  }
  return contest.shoot_out(field.near(contest), baseline);
}

TEST_CASE("The median's interval holds the median about 95 times in 100") {
  std::mt19937 engine(11);
  std::exponential_distribution<double> skewed(1);
  int held = 0;
  for (int round = 0; round < 1000; ++round) {
    std::vector<double> samples(20);
    for (double& sample : samples) sample = skewed(engine);
    const auto interval = median_interval(samples);
    held += interval.low <= std::log(2.0) && std::log(2.0) <= interval.high ? 1 : 0;
  }
  CHECK(held > 930);
  CHECK(median_interval({}).median == 0);
  CHECK(median_interval({3}).half_width() == 0);
  CHECK(median_interval({1, 2, 3}).low == 1);
}

TEST_CASE("A card that slows down by a fifth crowns nobody for having been measured early") {
  // Candidate 9, measured last, is 4 % faster than all before.
  const unsigned seed = GENERATE(1u, 2u, 3u, 4u, 5u);
  NoisyRunner runner(0.005, 0.004, seed);
  std::vector<double> seconds(10, 1e-4);
  seconds[9] = 0.96e-4;
  Field field(runner, seconds);
  const auto result = tune(runner, field, &field.candidates[0]);
  REQUIRE(result.winner != nullptr);
  CHECK(result.winner->id == 9);
  CHECK(result.winner->relative == Approx(0.96).margin(0.01));
}

TEST_CASE("C73 inside the noise the choice is the same on every run: the default") {
  const unsigned seed = GENERATE(1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u);
  NoisyRunner runner(0.02, 0.001, seed);
  Field field(runner, {1.0002e-4, 1.0e-4, 1.0001e-4, 0.9999e-4, 1.0e-4});
  const auto result = tune(runner, field, &field.candidates[0]);
  REQUIRE(result.winner != nullptr);
  CHECK(result.winner->id == 0);
  CHECK(result.noise > 0.001);
  CHECK(result.noise < 0.05);
}

TEST_CASE("C73 among equals that beat the default, the best predicted") {
  NoisyRunner runner(0, 0, 1);
  Field field(runner, {2e-4, 1e-4, 1e-4, 1e-4});
  const auto result = tune(runner, field, &field.candidates[0]);
  REQUIRE(result.winner != nullptr);
  CHECK(result.winner->id == 1);
  CHECK(result.noise == 0);
  CHECK(result.finalists.size() == 4);  // the default is always there
}

TEST_CASE("A difference well beyond the noise decides, small as it is") {
  const unsigned seed = GENERATE(1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u);
  NoisyRunner runner(0.002, 0.002, seed);
  Field field(runner, {1.01e-4, 1.0e-4});
  const auto result = tune(runner, field, &field.candidates[0]);
  REQUIRE(result.winner != nullptr);
  CHECK(result.winner->id == 1);
}

TEST_CASE("A third of a percent is told apart where one round of samples could not") {
  // 0.6 % of noise in each sample, as the H200's kernels of 0.4 ms have with each other: the
  // interval of one round of 20 is as wide as the difference.
  int right = 0, rounds = 0;
  for (unsigned seed = 1; seed <= 50; ++seed) {
    NoisyRunner runner(0.004, 0.0002, seed);
    Field field(runner, {1e-4, 0.997e-4});
    Contest contest(runner, 20);
    contest.screen(field.pointers(0, 2));
    const int before = runner.rounds;
    const auto result = contest.shoot_out(field.pointers(0, 2), &field.candidates[0]);
    REQUIRE(result.winner != nullptr);
    right += result.winner->id == 1 ? 1 : 0;
    rounds += runner.rounds - before - 1;  // one narrows
  }
  CHECK(right >= 48);
  CHECK(rounds < 50 * LastRace::kMostRounds);  // no more of them than that takes
}

TEST_CASE("Who is clearly slower runs the first round of the last race only") {
  NoisyRunner runner(0.01, 0, 1);
  Field field(runner, {1e-4, 1.0001e-4, 1.025e-4});
  Contest contest(runner, 20);
  contest.screen(field.pointers(0, 3));
  const auto result = contest.shoot_out(field.pointers(0, 3), &field.candidates[0]);
  REQUIRE(result.finalists.size() == 3);
  CHECK(field.candidates[0].timing->seconds.size() == 20 * LastRace::kMostRounds);
  CHECK(field.candidates[1].timing->seconds.size() == 20 * LastRace::kMostRounds);
  CHECK(field.candidates[2].timing->seconds.size() < 20 * LastRace::kMostRounds);
  CHECK(field.candidates[2].relative == Approx(1.025).margin(0.01));
}

TEST_CASE("Rounds end with their time: kernels of 10 ms run few of them") {
  NoisyRunner runner(0.01, 0, 1);
  Field field(runner, {1e-2, 1.0001e-2});
  Contest contest(runner, 20);
  contest.screen(field.pointers(0, 2));
  contest.shoot_out(field.pointers(0, 2), &field.candidates[0]);
  CHECK(field.candidates[0].timing->seconds.size() == 20);
}

TEST_CASE("One that fails in a later round of the last race is out, and the rest goes on") {
  NoisyRunner runner(0.01, 0, 1);
  Field field(runner, {1e-4, 1.0001e-4, 0.9999e-4});
  Contest contest(runner, 20);
  contest.screen(field.pointers(0, 3));
  runner.fails_from_round[2] = runner.rounds + 3;  // narrowing, the first, then
  const auto result = contest.shoot_out(field.pointers(0, 3), &field.candidates[0]);
  REQUIRE(result.winner != nullptr);
  CHECK(field.candidates[2].failure == "fell over");
  CHECK(result.finalists.size() == 2);
  CHECK(field.candidates[0].timing->seconds.size() > 20);
}

TEST_CASE("What loses on the way to the last race keeps what was measured there") {
  NoisyRunner runner(0, 0, 1);
  Field field(runner, {1e-4, 0.95e-4, 1.0e-4, 0.9e-4, 0.91e-4});
  Contest contest(runner, 10);
  contest.screen(field.pointers(0, 1));
  contest.screen(field.pointers(1, 5));
  field.candidates[1].relative = 0.89;  // by luck, so that it was the best of all
  const auto result = contest.shoot_out(field.pointers(1, 5), &field.candidates[0]);
  REQUIRE(result.winner != nullptr);
  CHECK(result.winner->id == 3);
  CHECK(result.finalists.size() == 3);  // with the default
  REQUIRE(result.outrun.size() == 2);
  CHECK(field.candidates[1].relative == Approx(0.95));
  CHECK(field.candidates[2].relative == Approx(1.0));
  CHECK(field.candidates[1].timing->seconds.size() == 9);
}

TEST_CASE("However many are measured, luck does not wear the scale down") {
  // All alike. Were the luckiest so far what each round is relative to, all after it would be told
  // too small a ratio, and the next one who leads by luck a smaller one yet.
  const unsigned seed = GENERATE(1u, 2u, 3u, 4u);
  NoisyRunner runner(0.02, 0.001, seed);
  Field field(runner, std::vector<double>(201, 1e-4));
  Contest contest(runner, 20);
  contest.screen(field.pointers(0, 1));
  for (std::size_t i = 1; i + 4 <= field.candidates.size(); i += 4) {
    contest.screen(field.pointers(i, i + 4));
  }
  double early = 0, late = 0;
  for (std::size_t i = 1; i <= 50; ++i) {
    early += field.candidates[i].relative / 50;
    late += field.candidates[i + 150].relative / 50;
  }
  CHECK(early == Approx(1).margin(0.01));
  CHECK(late == Approx(1).margin(0.01));
}

TEST_CASE("Who is far ahead is the reference from then on") {
  NoisyRunner runner(0, 0, 1);
  Field field(runner, {1e-4, 0.95e-4, 0.8e-4, 0.79e-4, 0.78e-4});
  Contest contest(runner, 10);
  const auto runs_beside = [&](std::size_t candidate) {
    contest.screen(field.pointers(candidate, candidate + 1));
    return runner.raced.front();
  };
  contest.screen(field.pointers(0, 1));
  CHECK(runs_beside(1) == 0);
  CHECK(runs_beside(2) == 0);
  CHECK(runs_beside(3) == 2);
  CHECK(runs_beside(4) == 2);
  CHECK(field.candidates[4].relative == Approx(0.78));
}

TEST_CASE("One lucky round does not throw all others out of the last race") {
  NoisyRunner runner(0.001, 0, 1);
  Field field(runner, {1e-4, 0.9e-4, 0.91e-4, 0.99e-4});
  Contest contest(runner, 20);
  contest.screen(field.pointers(0, 1));
  SECTION("while narrowing") {
    contest.screen(field.pointers(1, 4));
    runner.luck[2] = 0.9;
  }
  SECTION("while screening") {
    runner.luck[3] = 0.8;
    contest.screen(field.pointers(1, 4));
    CHECK(contest.leader()->id == 3);
  }
  const auto result = contest.shoot_out(field.near(contest), &field.candidates[0]);
  REQUIRE(result.winner != nullptr);
  CHECK(result.winner->id == 1);
}

TEST_CASE("Of short kernels more are let into the last race") {
  const bool is_short = GENERATE(true, false);
  NoisyRunner runner(0, 0, 1);
  Field field(runner, std::vector<double>(61, is_short ? 1e-4 : 1e-2));
  Contest contest(runner, 20);
  contest.screen(field.pointers(0, 1));
  contest.screen(field.pointers(1, 61));
  const auto near = is_short ? Contest::kMostNear : Contest::kLeastNear;
  CHECK(contest.most_near() == near);
  const auto result = contest.shoot_out(field.near(contest), &field.candidates[0]);
  const std::size_t finalists = is_short ? 16 : 8;
  CHECK(result.finalists.size() == finalists);
  CHECK(result.finalists.size() + result.outrun.size() == near);
}

TEST_CASE("Hopeless ones leave early, and those that fail in a race are out") {
  NoisyRunner runner(0.002, 0, 1);
  Field field(runner, {1e-4, 5e-4, 1e-4, 1.02e-4});
  Contest contest(runner, 10);
  contest.screen(field.pointers(0, 1));
  runner.fails[2] = "timed out";
  contest.screen(field.pointers(1, 4));
  CHECK(runner.released == std::set<int>{1});
  CHECK(field.candidates[2].failure == "timed out");
  CHECK(field.near(contest).size() == 2);
}

TEST_CASE("Where the leader fails the next one takes its place, on the same scale") {
  NoisyRunner runner(0, 0, 1);
  Field field(runner, {1e-4, 0.8e-4, 0.9e-4, 0.5e-4});
  Contest contest(runner, 10);
  contest.screen(field.pointers(0, 1));
  contest.screen(field.pointers(1, 3));
  CHECK(contest.leader()->id == 1);
  runner.fails[1] = "timed out";
  contest.screen(field.pointers(3, 4));
  CHECK(field.candidates[3].relative == Approx(0.5));
  CHECK(contest.leader()->id == 3);
}

}  // namespace
}  // namespace heddle
