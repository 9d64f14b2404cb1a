#include <catch2/catch.hpp>

#include "tests/tuning_db/support.hpp"
#include "tuning_db/results_lookup.hpp"
#include "tuning_db/results_merge.hpp"
#include "tuning_db/shipped_entries.hpp"

using namespace heddle;
using namespace heddle::testing_db;

namespace {

KernelConfig tile(int tile_m) {
  KernelConfig config;
  config.tile_m = tile_m;
  return config;
}

/// A store in memory with these user and shipped rows.
struct Fixture {
  explicit Fixture(std::vector<Measurement> user, std::vector<Measurement> shipped = {})
      : store({.shipped = std::make_shared<const std::vector<Measurement>>(std::move(shipped))}) {
    store.record(user);
  }
  std::optional<Lookup> ask(const Measurement& question, int illegal_tile_m = -1) const {
    return store.find(question.variant, question.bucket, question.device,
                      [&](const KernelConfig& config) { return config.tile_m != illegal_tile_m; });
  }
  std::optional<Lookup> ask() const { return ask(sample_row()); }
  ResultsStore store;
};

Measurement failed(Measurement row, const std::string& when) {
  row.evidence = Evidence::kFailed;
  row.failure = "launch timed out";
  row.check.reset();
  row.provenance.when = when;
  return row;
}

Measurement predicted(const KernelConfig& config, double seconds) {
  auto row = measured(config, seconds, "2025-01-01T00:00:00Z");
  row.evidence = Evidence::kPredicted;
  row.check.reset();
  return row;
}

const std::string kEarly = "2025-01-01T00:00:00Z";
const std::string kLate = "2025-06-01T00:00:00Z";

}  // namespace

TEST_CASE("The fastest checked config of the exact place wins", "[lookup]") {
  auto unchecked = measured(tile(16), 1e-6, kEarly);
  unchecked.check.reset();
  auto wrong = measured(tile(32), 2e-6, kEarly);
  wrong.check->passed = false;
  auto timeless = measured(tile(48), 0, kEarly);
  const Fixture fixture({measured(tile(64), 5e-4, kEarly), measured(tile(128), 4e-4, kEarly),
                         unchecked, wrong, timeless});
  const auto found = fixture.ask();
  REQUIRE(found);
  CHECK(found->config.tile_m == 128);
  CHECK(found->match == Match::kExact);
  CHECK(found->median_seconds == 4e-4);
  CHECK(found->expected_regret == 1);
}

TEST_CASE("legal has the last word, at every level", "[lookup]") {
  const Fixture fixture({measured(tile(64), 5e-4, kEarly), measured(tile(128), 4e-4, kEarly)});
  CHECK(fixture.ask(sample_row(), 128)->config.tile_m == 64);
  const Fixture one({measured(tile(128), 4e-4, kEarly), predicted(tile(128), 1e-4)});
  CHECK_FALSE(one.ask(sample_row(), 128));
}

TEST_CASE("Of one config the newest valid evidence counts", "[lookup]") {
  const Fixture fixture({measured(tile(64), 9e-4, kLate), measured(tile(64), 1e-4, kEarly),
                         measured(tile(128), 5e-4, kEarly)});
  CHECK(fixture.ask()->config.tile_m == 128);
  // Within one second the later record is the newer.
  const Fixture same_second({measured(tile(64), 1e-4, kLate), measured(tile(64), 9e-4, kLate)});
  CHECK(same_second.ask()->median_seconds == 9e-4);
}

TEST_CASE("A newer failure of the same source disqualifies, an older or other one not",
          "[lookup]") {
  const auto good = measured(tile(128), 4e-4, "2025-03-01T00:00:00Z");
  CHECK_FALSE(Fixture({good, failed(good, kLate)}).ask());
  CHECK(Fixture({good, failed(good, kEarly)}).ask());
  auto other_source = failed(good, kLate);
  other_source.provenance.source_hash = "other";
  CHECK(Fixture({good, other_source}).ask());
  auto recovered = good;
  recovered.provenance.when = "2025-07-01T00:00:00Z";
  CHECK(Fixture({good, failed(good, kLate), recovered}).ask());
}

TEST_CASE("A failed check counts in every bucket, another failure in its own", "[lookup]") {
  const auto good = measured(tile(128), 4e-4, kEarly);
  auto elsewhere = failed(good, kLate);
  elsewhere.bucket.seqlen_kv *= 4;
  CHECK(Fixture({good, elsewhere}).ask());
  elsewhere.check = CheckRecord{.passed = false, .sizes = ""};
  CHECK_FALSE(Fixture({good, elsewhere}).ask());

  const TemporaryDirectory directory;  // the same through SQL's choice of rows
  Warnings warnings;
  auto store = open_results(directory / "results.db", warnings);
  store.record({good, elsewhere});
  CHECK_FALSE(store.find(good.variant, good.bucket, good.device, [](const auto&) { return true; }));
}

TEST_CASE("The nearest size answers, with the regret of its distance", "[lookup]") {
  auto twice = measured(tile(64), 5e-4, kEarly);
  twice.bucket.seqlen_kv *= 2;
  auto far = measured(tile(128), 1e-4, kEarly);
  far.bucket.seqlen_kv *= 16;
  far.bucket.sequences *= 2;
  const Fixture fixture({far, twice});
  const auto found = fixture.ask();
  REQUIRE(found);
  CHECK(found->match == Match::kNearestSize);
  CHECK(found->config.tile_m == 64);
  CHECK(found->expected_regret == Approx(1.05));
  const auto second = fixture.ask(sample_row(), 64);
  REQUIRE(second);
  CHECK(second->config.tile_m == 128);
  CHECK(second->expected_regret == Approx(std::pow(1.05, 5)));
}

TEST_CASE("C63: what counts as the same device", "[lookup]") {
  const auto row = measured(tile(128), 4e-4, kEarly);
  const Fixture fixture({row});
  auto renamed = sample_row();
  renamed.device.name = "NVIDIA H200 NVL";
  CHECK(fixture.ask(renamed)->match == Match::kExact);

  auto fewer = sample_row();
  fewer.device.sm_count = 78;
  REQUIRE(fixture.ask(fewer));
  CHECK(fixture.ask(fewer)->match == Match::kOtherDevice);
  CHECK(fixture.ask(fewer)->expected_regret > 1.03);

  auto slice = sample_row();
  slice.device.sm_count = 16;
  slice.device.l2_bytes /= 8;
  CHECK(fixture.ask(slice)->match == Match::kOtherDevice);

  auto older = sample_row();
  older.device.capability_major = 8;
  CHECK_FALSE(fixture.ask(older));
}

TEST_CASE("Of other devices the one with the nearest SM count answers", "[lookup]") {
  auto small = measured(tile(64), 9e-4, kEarly);
  small.device.sm_count = 78;
  auto large = measured(tile(128), 1e-4, kEarly);
  large.device.sm_count = 144;
  auto question = sample_row();
  question.device.sm_count = 80;
  CHECK(Fixture({large, small}).ask(question)->config.tile_m == 64);
}

TEST_CASE("Predictions answer only when nothing measured does", "[lookup]") {
  const Fixture both({measured(tile(64), 9e-4, kEarly), predicted(tile(128), 1e-4)});
  CHECK(both.ask()->match == Match::kExact);
  CHECK(both.ask()->config.tile_m == 64);
  const Fixture guess({predicted(tile(128), 1e-4), predicted(tile(64), 2e-4)});
  REQUIRE(guess.ask());
  CHECK(guess.ask()->match == Match::kPredicted);
  CHECK(guess.ask()->config.tile_m == 128);
  const auto winners = both.store.winners();
  REQUIRE(winners.size() == 1);
  CHECK(winners[0].evidence == Evidence::kMeasured);
  CHECK(guess.store.winners().at(0).evidence == Evidence::kPredicted);
}

TEST_CASE("The variant must be the same, alignment class included", "[lookup]") {
  const Fixture fixture({measured(tile(128), 4e-4, kEarly)});
  for (const std::string change : {"alignment=8", "dtype=fp16", "mask=causal", "head_dim=64"}) {
    auto question = sample_row();
    question.variant = parse_canonical<Variant>(change);
    CAPTURE(change);
    CHECK_FALSE(fixture.ask(question));
  }
}

TEST_CASE("User rows come before shipped ones of equal match, not of a better one", "[lookup]") {
  const auto user = measured(tile(64), 9e-4, kEarly);
  const auto shipped = measured(tile(128), 1e-4, kEarly);
  CHECK(Fixture({user}, {shipped}).ask()->config.tile_m == 64);
  CHECK(Fixture({}, {shipped}).ask()->config.tile_m == 128);
  auto user_elsewhere = user;
  user_elsewhere.bucket.seqlen_q *= 2;
  CHECK(Fixture({user_elsewhere}, {shipped}).ask()->config.tile_m == 128);
  CHECK_FALSE(Fixture({failed(shipped, kLate)}, {shipped}).ask());
  CHECK(Fixture({user}, {shipped}).store.list().size() == 1);
}

TEST_CASE("winners gives the best row of each place, sizes in numeric order", "[lookup]") {
  auto long_keys = measured(tile(64), 9e-4, kEarly);
  long_keys.bucket.seqlen_kv = 16384;
  auto short_keys = measured(tile(64), 9e-4, kEarly);
  short_keys.bucket.seqlen_kv = 2048;
  const Fixture fixture(
      {long_keys, short_keys, measured(tile(64), 5e-4, kEarly), measured(tile(128), 4e-4, kEarly)});
  const auto winners = fixture.store.winners();
  REQUIRE(winners.size() == 3);
  CHECK(winners[0].bucket.seqlen_kv == 1024);
  CHECK(winners[0].config.tile_m == 128);
  CHECK(winners[1].bucket.seqlen_kv == 2048);
  CHECK(winners[2].bucket.seqlen_kv == 16384);
}

TEST_CASE("Every shipped file is sound", "[lookup]") {
  const auto entries = parse_shipped_entries();
  for (const auto& problem : entries.problems) FAIL_CHECK(problem);
  CHECK(shipped_entries().size() == entries.rows.size());
  for (const auto& row : entries.rows) {
    CHECK(row.evidence == Evidence::kMeasured);
    CHECK((row.check && row.check->passed));
  }
}

namespace {

Measurement tuned(int tile_m, double seconds, const std::string& when, bool chosen) {
  Measurement row = measured(tile(tile_m), seconds, when);
  row.tuning = "tuning of " + when;
  row.chosen = chosen;
  return row;
}

}  // namespace

TEST_CASE("A choice among few does not shadow what another tuning found far faster", "[lookup]") {
  const std::vector<Measurement> rows{tuned(128, 4e-4, kEarly, true), tuned(64, 9e-4, kLate, true)};
  CHECK(Fixture(rows).ask()->config.tile_m == 128);
  CHECK_FALSE(Fixture(rows).ask()->partial);
  CHECK(Fixture(rows).ask(sample_row(), 128)->config.tile_m == 64);
  CHECK(Fixture({rows[1]}).ask()->config.tile_m == 64);
  CHECK(Fixture({rows[1]}, {rows[0]}).ask()->config.tile_m == 128);
  REQUIRE(best_rows(rows).size() == 1);
  CHECK(best_rows(rows)[0].config.tile_m == 128);
  CHECK(superfluous_rows(rows, false, "").empty());
  auto unfinished = rows;
  unfinished[0].chosen = false;
  CHECK(Fixture(unfinished).ask()->config.tile_m == 128);
  CHECK(Fixture(unfinished).ask()->partial);
}

TEST_CASE("The newer choice stands wherever the older's time says nothing against it", "[lookup]") {
  const auto late = tuned(64, 9e-4, kLate, true);
  const auto stands_beside = [&](const auto& change) {
    Measurement early = tuned(128, 4e-4, kEarly, true);
    change(early);
    return Fixture({early, late}).ask()->config.tile_m == 64;
  };
  CHECK_FALSE(stands_beside([](Measurement&) {}));
  CHECK(stands_beside([](Measurement& row) { row.median_seconds = 8.5e-4; }));
  CHECK(stands_beside([](Measurement& row) { row.clock_mhz *= 2.2; }));
  CHECK(stands_beside([](Measurement& row) { row.warm = true; }));
  CHECK(stands_beside([&](Measurement& row) { row.tuning = late.tuning; }));
  CHECK(stands_beside([](Measurement& row) { ++row.sizes.seqlen_q; }));  // of the same bucket
  CHECK(stands_beside([](Measurement& row) { row.provenance.driver_version = "12.0"; }));
  CHECK(stands_beside([](Measurement& row) { row.provenance.heddle_version = "0.0.1"; }));
}
