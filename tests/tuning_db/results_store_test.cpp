#include "tuning_db/results_store.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "tests/tuning_db/support.hpp"
#include "tuning_db/results_row.hpp"

using namespace heddle;
using namespace heddle::testing_db;

namespace {

bool any_config(const KernelConfig&) {
  return true;
}

/// Everything that is stored, as one text.
std::string text_of(const Measurement& row) {
  return export_yaml({row});
}

}  // namespace

TEST_CASE("A row comes back with every field", "[results]") {
  const TemporaryDirectory directory;
  const std::string path = directory / "results.db";
  Warnings warnings;
  auto row = sample_row();
  row.variant.score_snippet = "a = b, 100 % \"x\"\n";
  row.device.name = "Grafik ключ, 'Q'; DROP TABLE measurements";
  open_results(path, warnings).record(row);
  const auto rows = open_results(path, warnings).list();
  REQUIRE(rows.size() == 1);
  CHECK(text_of(rows[0]) == text_of(row));
  CHECK(rows[0].median_seconds == row.median_seconds);
  CHECK(rows[0].check->sizes == row.check->sizes);
  CHECK(warnings.joined().empty());
}

TEST_CASE("Rows stay beside one another; the very same row is kept once", "[results]") {
  const TemporaryDirectory directory;
  const std::string name = GENERATE("", "results.db");
  const std::string path = name.empty() ? "" : directory / name;
  Warnings warnings;
  auto store = open_results(path, warnings);
  store.record(sample_row());
  store.record(sample_row());
  auto later = sample_row();
  later.provenance.when = "2025-02-01T00:00:00Z";
  store.record({later, later});
  CHECK(store.list().size() == 2);
  CHECK(store.in_memory() == path.empty());
}

TEST_CASE("A row with an unknown field of a newer heddle is invisible", "[results]") {
  const TemporaryDirectory directory;
  const std::string path = directory / "results.db";
  Warnings warnings;
  auto slower = sample_row();
  slower.config.tile_m = 32;
  slower.median_seconds = 1;
  auto store = open_results(path, warnings);
  store.record({sample_row(), slower});
  // With the checksum that the newer heddle would have given it.
  const std::string column = GENERATE("config", "variant", "sizes", "check_record", "device");
  CAPTURE(column);
  auto columns = columns_of(sample_row());
  for (auto& [name, value] : columns) {
    if (name == column) value = std::get<std::string>(value) + ",new_knob=7";
  }
  execute_sql(path, "UPDATE measurements SET \"" + column + "\" = \"" + column +
                        "\" || ',new_knob=7', checksum = '" + row_checksum(columns) +
                        "' WHERE config LIKE 'tile_m=128%'");
  CHECK(store.list().size() == 1);
  const auto found = store.find(slower.variant, slower.bucket, slower.device, any_config);
  REQUIRE(found);
  CHECK(found->config == slower.config);
  CHECK(warnings.joined().empty());
}

TEST_CASE("C37: a damaged row is invisible", "[results]") {
  const TemporaryDirectory directory;
  const std::string path = directory / "results.db";
  Warnings warnings;
  auto store = open_results(path, warnings);
  store.record(sample_row());
  const std::string damage =
      GENERATE("median_seconds = 1e-9", "config = 'xx'", "samples = 'many'", "samples = 1e300",
               "device_name = cast(x'ff80' AS TEXT)", "evidence = 'sure'", "\"when\" = ''",
               "variant = x'00'", "check_record = NULL");
  CAPTURE(damage);
  execute_sql(path, "UPDATE measurements SET " + damage);
  CHECK(store.list().empty());
  const auto row = sample_row();
  CHECK_FALSE(store.find(row.variant, row.bucket, row.device, any_config));
  CHECK(warnings.joined().empty());
}

TEST_CASE("What no file format carries is made storable", "[results]") {
  const TemporaryDirectory directory;
  Warnings warnings;
  auto store = open_results(directory / "results.db", warnings);
  auto row = sample_row();
  row.evidence = Evidence::kFailed;
  row.failure = "bad \xff\xc3( text";
  row.check->passed = false;
  row.check->max_error = std::nan("");
  row.provenance.when.clear();
  store.record(row);
  const auto rows = store.list();
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].failure == "bad \xef\xbf\xbd\xef\xbf\xbd( text");
  CHECK(rows[0].check->max_error > 1e300);
  CHECK(rows[0].provenance.when.size() == 20);
  CHECK(import_yaml(export_yaml(rows), "x.yaml").size() == 1);
}

TEST_CASE("The usual question costs one SELECT, a miss three", "[results]") {
  const TemporaryDirectory directory;
  Warnings warnings;
  auto store = open_results(directory / "results.db", warnings);
  const auto row = sample_row();
  CHECK_FALSE(store.find(row.variant, row.bucket, row.device, any_config));
  CHECK(store.query_count() == 3);
  store.record(row);
  CHECK(store.find(row.variant, row.bucket, row.device, any_config));
  CHECK(store.query_count() == 4);
}

TEST_CASE("Rows of memory and file answer together", "[results]") {
  const TemporaryDirectory directory;
  const std::string path = directory / "results.db";
  Warnings warnings;
  open_results(path, warnings).record(sample_row());
  ResultsStore store({.path = path, .read_only = true, .shipped = nothing_shipped()});
  auto failure = sample_row();
  failure.evidence = Evidence::kFailed;
  failure.failure = "wrong";
  failure.provenance.when = "2025-03-01T00:00:00Z";
  CHECK(store.find(failure.variant, failure.bucket, failure.device, any_config));
  store.record(failure);
  CHECK_FALSE(store.find(failure.variant, failure.bucket, failure.device, any_config));
}

TEST_CASE("A large table still answers an exact question quickly", "[results]") {
  const TemporaryDirectory directory;
  Warnings warnings;
  auto store = open_results(directory / "results.db", warnings);
  std::vector<Measurement> rows;
  for (int size = 0; size < 25; ++size) {
    for (int config = 0; config < 60; ++config) {
      auto row = sample_row();
      row.bucket.sequences = 1 << (size % 10);
      row.bucket.seqlen_kv = 1 << (4 + size / 10);
      row.config.tile_n = 16 * (config + 1);
      row.median_seconds = 1e-3 + config * 1e-6;
      rows.push_back(row);
    }
  }
  store.record(rows);
  const auto start = std::chrono::steady_clock::now();
  const auto found = store.find(rows[0].variant, rows[0].bucket, rows[0].device, any_config);
  const double seconds = seconds_since(start);
  REQUIRE(found);
  CHECK(found->match == Match::kExact);
  CHECK(found->config.tile_n == 16);
  WARN("exact question among 1500 rows: " << seconds * 1e3 << " ms");
  CHECK(seconds < 0.2);
}
