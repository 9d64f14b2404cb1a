// Databases joined and cut back: whatever the order, the same answers.
#include <algorithm>
#include <catch2/catch.hpp>
#include <ctime>
#include <random>

#include "tests/tuning_db/support.hpp"
#include "tuning_db/database_check.hpp"
#include "tuning_db/results_lookup.hpp"
#include "tuning_db/results_merge.hpp"
#include "tuning_db/results_row.hpp"

using namespace heddle;
using namespace heddle::testing_db;

namespace {

/// Few values of everything, so that rows meet: the same place, config, second, source.
Measurement random_row(std::mt19937& engine) {
  const auto pick = [&](int count) {
    return static_cast<int>(engine() % static_cast<unsigned>(count));
  };
  Measurement row = sample_row();
  row.variant.mask = pick(2) == 0 ? MaskKind::kFull : MaskKind::kCausal;
  row.sizes.seqlen_q = row.sizes.seqlen_kv = pick(2) == 0 ? 1000 : 3000;
  row.bucket = bucket_of(row.sizes);
  row.config.tile_m = 64 << pick(2);
  row.config.stages = 1 + pick(2);
  row.median_seconds = 1e-4 * (1 + pick(3));
  row.elapsed_seconds = pick(2);
  row.provenance.when = "2025-01-0" + std::to_string(1 + pick(3)) + "T00:00:00Z";
  row.provenance.source_hash = pick(2) == 0 ? "one" : "two";
  switch (pick(5)) {
    case 0:
      row.evidence = Evidence::kFailed;
      row.failure = "timed out";
      row.check.reset();
      break;
    case 1:
      row.evidence = Evidence::kPredicted;
      row.check.reset();
      break;
    case 2:
      row.evidence = Evidence::kFailed;
      row.failure = "wrong result";
      row.check->passed = false;
      break;
    default:
      row.chosen = pick(2) == 0;
  }
  return row;
}

std::vector<Measurement> random_rows(std::mt19937& engine) {
  std::vector<Measurement> rows(engine() % 12);
  for (Measurement& row : rows) row = random_row(engine);
  return rows;
}

/// A database with the rows of `parts`, one after the other.
struct Merged {
  explicit Merged(const std::vector<std::vector<Measurement>>& parts) {
    for (const auto& part : parts) open_results(path, none).record(part);
  }
  std::vector<Measurement> list() { return open_results(path, none).list(); }
  std::string text() { return export_yaml(list()); }
  std::string winners() { return export_yaml(open_results(path, none).winners()); }
  /// What each place answers, one answer after the other.
  std::string answers() {
    const auto store = open_results(path, none);
    std::string text;
    for (const auto& row : list()) {
      store.find(row.variant, row.bucket, row.device, [&](const Lookup& answer) {
        text += canonical_text(answer.config) + ' ' + value_text(answer.median_seconds) + ';';
        return Verdict::kNextConfig;
      });
    }
    return text;
  }
  TemporaryDirectory directory;
  Warnings none;
  std::string path = directory / "results.db";
};

}  // namespace

TEST_CASE("Merging is associative, commutative and idempotent", "[merge]") {
  const auto seed = static_cast<unsigned>(std::time(nullptr));
  INFO("seed " << seed);
  std::mt19937 engine(seed);
  for (int round = 0; round < 40; ++round) {
    INFO("round " << round);
    const auto a = random_rows(engine), b = random_rows(engine), c = random_rows(engine);
    const auto bc = Merged({b, c}).list(), ab = Merged({a, b}).list();
    Merged once({a, b, c}), nested({a, bc}), left({ab, c}), turned({c, b, a}),
        twice({a, a, b, c, b});
    REQUIRE(nested.text() == once.text());
    REQUIRE(left.text() == once.text());
    REQUIRE(turned.text() == once.text());
    REQUIRE(twice.text() == once.text());
    REQUIRE(turned.winners() == once.winners());
    REQUIRE(turned.answers() == once.answers());
  }
}

TEST_CASE("Pruning changes no answer, and pruning again changes nothing", "[merge]") {
  const auto seed = static_cast<unsigned>(std::time(nullptr));
  INFO("seed " << seed);
  std::mt19937 engine(seed);
  long long removed = 0;
  for (int round = 0; round < 40; ++round) {
    INFO("round " << round);
    Merged merged({random_rows(engine), random_rows(engine), random_rows(engine)});
    const std::string winners = merged.winners();
    auto store = open_results(merged.path, merged.none);
    const auto answers_of_all = [&] {
      // The questions stay when rows go.
      std::string text;
      for (const MaskKind mask : {MaskKind::kFull, MaskKind::kCausal}) {
        for (const int length : {1000, 3000}) {
          Measurement row = sample_row();
          row.variant.mask = mask;
          row.sizes.seqlen_q = row.sizes.seqlen_kv = length;
          store.find(row.variant, bucket_of(row.sizes), row.device, [&](const Lookup& answer) {
            text += canonical_text(answer.config) + ' ' + value_text(answer.median_seconds) + ';';
            return Verdict::kNextConfig;
          });
        }
      }
      return text;
    };
    const std::string answers = answers_of_all();
    const auto pruned = store.prune({});
    REQUIRE(pruned);
    removed += pruned->removed;
    REQUIRE(merged.winners() == winners);
    REQUIRE(answers_of_all() == answers);
    REQUIRE(store.prune({})->removed == 0);
    // By age and with failures gone, the winners stay.
    store.prune({.older_than = "2025-01-03T00:00:00Z"});
    REQUIRE(merged.winners() == winners);
  }
  CHECK(removed > 0);
}

TEST_CASE("Pruned failures are gone", "[merge]") {
  auto failure = sample_row();
  failure.evidence = Evidence::kFailed;
  failure.failure = "timed out";
  failure.check.reset();
  Merged merged({{sample_row(), failure}});
  CHECK(open_results(merged.path, merged.none).prune({.failures = true})->removed == 1);
  CHECK(merged.list().size() == 1);
}

TEST_CASE("A conflict names both winners, and the newer one wins", "[merge]") {
  auto ours = sample_row(), theirs = sample_row();
  ours.chosen = theirs.chosen = true;
  theirs.config.tile_m = 64;
  theirs.median_seconds = 2 * ours.median_seconds;  // slower, but newer
  theirs.provenance.when = "2025-02-01T00:00:00Z";
  for (const bool swapped : {false, true}) {
    const auto conflicts =
        swapped ? merge_conflicts({theirs}, {ours}) : merge_conflicts({ours}, {theirs});
    REQUIRE(conflicts.size() == 1);
    CHECK(conflicts[0].winner.config == theirs.config);
    CHECK(conflicts[0].other.config == ours.config);
  }
  CHECK(merge_conflicts({ours}, {ours}).empty());
  theirs.variant.mask = MaskKind::kCausal;
  CHECK(merge_conflicts({ours}, {theirs}).empty());
}

TEST_CASE("check finds a damaged row and a damaged file, and prune removes the row", "[merge]") {
  Merged merged({{sample_row(), measured({}, 1e-3, "2025-01-02T00:00:00Z")}});
  CHECK(check_results(merged.path).sound());
  CHECK(check_results(merged.path).rows == 2);
  CHECK(check_results(merged.directory / "nowhere.db").sound());
  CHECK_FALSE(check_results(merged.directory / "nowhere.db").exists);
  execute_sql(merged.path, "UPDATE measurements SET median_seconds = 1e-9 WHERE id = 1");
  const auto damaged = check_results(merged.path);
  CHECK_FALSE(damaged.sound());
  CHECK(damaged.damaged == 1);
  CHECK(open_results(merged.path, merged.none).prune({})->damaged == 1);
  CHECK(check_results(merged.path).sound());
  CHECK(check_results(merged.path).rows == 1);

  const std::string broken = merged.directory / "broken.db";
  write_file(broken, "not a database at all, but some text that is long enough");
  CHECK_FALSE(check_results(broken).problem.empty());
  CHECK(read_file(broken).find("not a database") == 0);  // looked at, not moved aside
}

TEST_CASE("check knows a row of a newer heddle from a damaged one", "[merge]") {
  Merged merged({{sample_row()}});
  // As a newer heddle would write it: a knob that this one does not know.
  auto columns = columns_of(sample_row());
  const auto config = std::find_if(columns.begin(), columns.end(),
                                   [](const Column& column) { return column.name == "config"; });
  config->value = std::get<std::string>(config->value) + ",warp_drive=9";
  execute_sql(merged.path,
              "UPDATE measurements SET config = config || ',warp_drive=9', checksum = '" +
                  row_checksum(columns) + "'");
  const auto newer = check_results(merged.path);
  CHECK(newer.newer == 1);
  CHECK(newer.sound());
  CHECK(open_results(merged.path, merged.none).prune({})->damaged == 0);
  CHECK(check_results(merged.path).rows == 1);
}

TEST_CASE("check reads every cubin", "[merge]") {
  const TemporaryDirectory directory;
  const std::string path = directory / "cubins.db";
  Warnings none;
  open_cubins(path, none).put(cubin_key(1), sample_cubin(1));
  CHECK(check_cubins(path).sound());
  CHECK(check_cubins(path).rows == 1);
  execute_sql(path, "UPDATE cubins SET code = zeroblob(16)");
  CHECK(check_cubins(path).damaged == 1);
}

TEST_CASE("A database of the first schema is migrated, its rows as they were", "[merge]") {
  const TemporaryDirectory directory;
  const std::string path = directory / "results.db";
  Warnings none;
  open_results(path, none).record(sample_row());
  for (const char* column : {"chosen", "relative", "interval_seconds", "noise", "elapsed_seconds",
                             "warm", "registers", "spill_bytes", "tuning", "timings"}) {
    execute_sql(path, std::string("ALTER TABLE measurements DROP COLUMN ") + column);
  }
  execute_sql(path, "PRAGMA user_version = 1");
  CHECK(check_results(path).older);  // looked at only
  CHECK(check_results(path).sound());
  auto store = open_results(path, none);
  REQUIRE(store.list().size() == 1);
  CHECK(export_yaml(store.list()) == export_yaml({sample_row()}));
  CHECK(check_results(path).sound());
}
