// The order in which stored evidence is looked at, and what makes one give way to the next.
#include "tests/runtime/asked_problem.hpp"

namespace heddle {
namespace {

using Catch::Contains;

/// A store in memory that knows these rows and no shipped ones.
ResultsStore store_of(const std::vector<Measurement>& rows) {
  ResultsStore::Options options;
  options.shipped = std::make_shared<const std::vector<Measurement>>();
  ResultsStore store(options);
  store.record(rows);
  return store;
}

Measurement elsewhere(Measurement row, int factor) {
  row.bucket.seqlen_q *= factor;
  row.bucket.seqlen_kv *= factor;
  return row;
}

Measurement on_other_device(Measurement row) {
  row.device.sm_count -= 20;
  return row;
}

TEST_CASE("exact measurement, nearest size, other device, prediction, default: in this order") {
  const AskedProblem ask;
  const auto good = ask.others(true, 4);
  std::vector<Measurement> rows{
      ask.measured(good[0], 1e-3), elsewhere(ask.measured(good[1], 1e-5), 2),
      on_other_device(ask.measured(good[2], 1e-6)), ask.predicted(good[3], 1e-9)};
  const Match order[] = {Match::kExact, Match::kNearestSize, Match::kOtherDevice,
                         Match::kPredicted};
  for (std::size_t i = 0; i < good.size(); ++i) {
    const ResultsStore store = store_of(rows);
    const Choice choice = select(ask.question, ask.target(), &store);
    CHECK(choice.match == order[i]);
    CHECK(choice.config == good[i]);
    CHECK(choice.passed_over.empty());
    CHECK(choice.bucket.seqlen_q == (i == 1 ? 2048 : 1024));
    rows.erase(rows.begin());
  }
  const ResultsStore empty = store_of({});
  const Choice choice = select(ask.question, ask.target(), &empty);
  CHECK(choice.match == Match::kDefault);
  CHECK(choice.config == ask.fallback());
  CHECK(choice.passed_over.empty());
}

TEST_CASE("where no measurement transfers, the stored prediction is taken, and why is told") {
  const AskedProblem ask;
  const KernelConfig bad = ask.others(false, 1)[0];
  const KernelConfig guess = ask.others(true, 1)[0];
  const auto nearest = elsewhere(ask.measured(bad, 1e-9), 2);
  const auto other_device = on_other_device(ask.measured(bad, 1e-9));
  SECTION("then the prediction") {
    const ResultsStore store = store_of({nearest, other_device, ask.predicted(guess, 1e-3)});
    const Choice choice = select(ask.question, ask.target(), &store);
    CHECK(choice.match == Match::kPredicted);
    CHECK(choice.config == guess);
    REQUIRE(choice.passed_over.size() == 2);
    CHECK(choice.passed_over[0].match == Match::kNearestSize);
    CHECK(choice.passed_over[0].config == bad);
    CHECK(choice.passed_over[0].bucket.seqlen_kv == 2048);
    CHECK_THAT(choice.passed_over[0].reason, Contains("times as slow as the default"));
    CHECK(choice.passed_over[1].match == Match::kOtherDevice);
  }
  SECTION("then the default") {
    const ResultsStore store = store_of({nearest, other_device});
    const Choice choice = select(ask.question, ask.target(), &store);
    CHECK(choice.match == Match::kDefault);
    CHECK(choice.config == ask.fallback());
    CHECK(choice.passed_over.size() == 2);
  }
}

TEST_CASE("a winner of another family transfers only where the model expects it to do well") {
  const AskedProblem ask;
  KernelConfig unfused;
  for (const auto& config :
       enumerate_candidates(ask.question.variant, ask.limits, Family::kUnfused)) {
    if (ask.loss(config) > 1.5) unfused = config;
  }
  REQUIRE(unfused.family == Family::kUnfused);
  const KernelConfig guess = ask.others(true, 1)[0];
  const ResultsStore store =
      store_of({elsewhere(ask.measured(unfused, 1e-9), 2), ask.predicted(guess, 1e-3)});
  CHECK(select(ask.question, ask.target(), &store).config == guess);
}

TEST_CASE("what was tuned among a few families does not hide a default of another that is faster") {
  const AskedProblem ask;
  REQUIRE(ask.fallback().family == Family::kFa3);
  const auto of_fa2 = [&](bool faster) {
    for (const KernelConfig& config : enumerate_candidates(ask.question.variant, ask.limits)) {
      if (config.family == Family::kFa2 && (ask.loss(config) < 1) == faster) return config;
    }
    return KernelConfig{.family = Family::kReference};
  };
  const KernelConfig slower = of_fa2(false);
  REQUIRE(slower.family == Family::kFa2);
  Measurement row = ask.measured(slower, 1e-6);
  row.chosen = true;
  const auto answer = [&](const std::string& command) {
    row.provenance.command = command;
    const ResultsStore store = store_of({row});
    return select(ask.question, ask.target(), &store);
  };
  const Choice narrow = answer("heddle tune --head-dim 128 --families fa2,fa1 --limit 10");
  CHECK(narrow.config == ask.fallback());
  CHECK(narrow.match == Match::kDefault);
  REQUIRE(narrow.passed_over.size() == 1);
  CHECK(narrow.passed_over[0].config == slower);
  CHECK_THAT(narrow.passed_over[0].reason,
             Contains("tuned without fa3, whose default is predicted"));
  // A search that had the default in it has answered already.
  CHECK(answer("heddle tune --head-dim 128 --families fa2,fa3").config == slower);
  CHECK(answer("heddle tune --head-dim 128").config == slower);
  CHECK(answer("").config == slower);
  // Nor is anything hidden where the model does not expect the default to be faster.
  if (const KernelConfig faster = of_fa2(true); faster.family == Family::kFa2) {
    row.config = faster;
    CHECK(answer("heddle tune --families fa2").config == faster);
  }
}

TEST_CASE("a narrow tuning's winner stands beside measurements of the default's family") {
  const AskedProblem ask;
  KernelConfig fa2;
  for (const KernelConfig& config : enumerate_candidates(ask.question.variant, ask.limits)) {
    if (config.family == Family::kFa2 && ask.loss(config) > 1) fa2 = config;
  }
  Measurement narrow = ask.measured(fa2, 1e-6);
  narrow.chosen = true;
  narrow.provenance.command = "heddle tune --families fa2";
  const Measurement beside = ask.measured(ask.fallback(), 1.05e-6);
  const ResultsStore store = store_of({narrow, beside});
  CHECK(select(ask.question, ask.target(), &store).config == fa2);
  Measurement of_fa3 = beside;
  of_fa3.provenance.command = "heddle tune --families fa3";
  const ResultsStore two_narrow = store_of({narrow, of_fa3});
  CHECK(select(ask.question, ask.target(), &two_narrow).config == fa2);
  // Of another size they say nothing here.
  const ResultsStore other = store_of({narrow, elsewhere(beside, 2)});
  const Choice choice = select(ask.question, ask.target(), &other);
  CHECK(choice.config == ask.fallback());
  CHECK(choice.match == Match::kNearestSize);
}

TEST_CASE("the next size is asked when the nearest one's winner does not transfer") {
  const AskedProblem ask;
  const KernelConfig bad = ask.others(false, 1)[0];
  const auto good = ask.others(true, 2);
  // Measured slower than `bad` at its place: no winner there, so none here.
  const ResultsStore store =
      store_of({elsewhere(ask.measured(bad, 1e-6), 2), elsewhere(ask.measured(good[0], 1e-3), 2),
                elsewhere(ask.measured(good[1], 1e-3), 4)});
  const Choice choice = select(ask.question, ask.target(), &store);
  CHECK(choice.match == Match::kNearestSize);
  CHECK(choice.config == good[1]);
  CHECK(choice.bucket.seqlen_kv == 4096);
}

TEST_CASE("an illegal config gives way to the next fastest of its place, then to a prediction") {
  const AskedProblem ask;
  KernelConfig illegal = ask.others(true, 1)[0];
  illegal.tile_m = illegal.tile_n = 4096;
  const auto good = ask.others(true, 2);
  const auto first = elsewhere(ask.measured(illegal, 1e-9), 2);
  const auto second = elsewhere(ask.measured(good[0], 1e-6), 2);
  const ResultsStore both = store_of({first, second, ask.predicted(good[1], 1e-3)});
  const Choice next = select(ask.question, ask.target(), &both);
  CHECK(next.config == good[0]);
  REQUIRE(next.passed_over.size() == 1);
  CHECK_THAT(next.passed_over[0].reason, Contains("not legal here: "));
  const ResultsStore one = store_of({first, ask.predicted(good[1], 1e-3)});
  CHECK(select(ask.question, ask.target(), &one).match == Match::kPredicted);
}

TEST_CASE("a prediction for another size must transfer too") {
  const AskedProblem ask;
  const KernelConfig bad = ask.others(false, 1)[0];
  const KernelConfig good = ask.others(true, 1)[0];
  const ResultsStore slow = store_of({elsewhere(ask.predicted(bad, 1e-9), 2)});
  CHECK(select(ask.question, ask.target(), &slow).match == Match::kDefault);
  const ResultsStore fast = store_of({elsewhere(ask.predicted(good, 1e-9), 2)});
  const Choice choice = select(ask.question, ask.target(), &fast);
  CHECK(choice.match == Match::kPredicted);
  CHECK(choice.config == good);
  CHECK(choice.expected_regret > 1);
  // For this very size the stored ranking stands.
  const ResultsStore here = store_of({ask.predicted(bad, 1e-9)});
  CHECK(select(ask.question, ask.target(), &here).config == bad);
}

TEST_CASE("what failed is not chosen again, and one kind of match may fail so often only") {
  const AskedProblem ask;
  const auto good = ask.others(true, kMostFailures + 2);
  std::vector<Measurement> rows;
  for (int i = 0; i <= kMostFailures; ++i) {
    rows.push_back(ask.measured(good[static_cast<std::size_t>(i)], 1e-6 * (i + 1)));
  }
  rows.push_back(ask.predicted(good.back(), 1e-3));
  const ResultsStore store = store_of(rows);
  std::vector<PassedOver> failed;
  for (int i = 0; i < kMostFailures; ++i) {
    const Choice choice = select(ask.question, ask.target(), &store, failed);
    CHECK(choice.match == Match::kExact);
    CHECK(choice.config == good[static_cast<std::size_t>(i)]);
    failed.push_back({choice.config, choice.match, "spills", choice.bucket});
  }
  const Choice last = select(ask.question, ask.target(), &store, failed);
  CHECK(last.match == Match::kPredicted);
  CHECK(last.config == good.back());
  REQUIRE(last.passed_over.size() == static_cast<std::size_t>(kMostFailures));
  CHECK(last.passed_over[0].reason == "spills");
}

}  // namespace
}  // namespace heddle
