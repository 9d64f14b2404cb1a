#include <catch2/catch.hpp>

#include "generator/error.hpp"
#include "tests/tuning_db/support.hpp"

using namespace heddle;
using namespace heddle::testing_db;

namespace {

std::string error_of(const std::string& text, std::string* field = nullptr) {
  try {
    import_yaml(text, "rows.yaml");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::kInvalidArgument);
    if (field != nullptr) *field = error.field();
    return error.what();
  }
  return "accepted";
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto place = text.find(from);
  REQUIRE(place != std::string::npos);
  return text.replace(place, from.size(), to);
}

/// 1-based line of the first occurrence.
int line_of(const std::string& text, const std::string& what) {
  const auto place = text.find(what);
  REQUIRE(place != std::string::npos);
  return 1 +
         static_cast<int>(std::count(text.begin(), text.begin() + static_cast<long>(place), '\n'));
}

std::vector<Measurement> varied_rows() {
  std::vector<Measurement> rows(4, sample_row());
  rows[1].evidence = Evidence::kFailed;
  rows[1].failure = "line one\nline \"two\"\t\\ \x01 ключ : - # {} é";
  rows[1].check.reset();
  rows[1].variant.dtype = DataType::kFp16;
  rows[1].variant.head_dim = 96;
  rows[2].evidence = Evidence::kPredicted;
  rows[2].config = {};
  rows[2].device.name.clear();
  rows[2].bucket.seqlen_kv = 65536;
  rows[3].check->passed = false;
  rows[3].device.name = "  yes: 'no' ";
  rows[3].provenance.command = "true";
  return rows;
}

}  // namespace

TEST_CASE("Export and import give the same rows and the same text", "[yaml]") {
  const auto rows = varied_rows();
  const std::string text = export_yaml(rows);
  const auto again = import_yaml(text, "rows.yaml");
  REQUIRE(again.size() == rows.size());
  CHECK(export_yaml(again) == text);
  int found = 0;
  for (const auto& row : again) {
    found += row.failure == rows[1].failure && row.variant == rows[1].variant ? 1 : 0;
    found += row.device.name == rows[3].device.name ? 1 : 0;
    found += row.provenance.command == "true" ? 1 : 0;
    CHECK(row.median_seconds == rows[0].median_seconds);
  }
  CHECK(found == 3);
  CHECK(import_yaml(export_yaml({}), "none.yaml").empty());
}

TEST_CASE("The text does not depend on the order of the rows", "[yaml]") {
  auto rows = varied_rows();
  const std::string text = export_yaml(rows);
  std::reverse(rows.begin(), rows.end());
  CHECK(export_yaml(rows) == text);
}

TEST_CASE("One key per line, defaults left out", "[yaml]") {
  const std::string text = export_yaml({sample_row()});
  const std::string expected = R"(# Fields at their defaults are left out.
heddle_results: 1
entries:
  - variant: {}
    bucket:
      sequences: 16
      group: 4
      seqlen_q: 1024
      seqlen_kv: 1024
    sizes:
      batch: 2
      heads: 32
      kv_heads: 8
      seqlen_q: 1000
      seqlen_kv: 1000
    device:
      capability_major: 9
      sm_count: 132
      shared_bytes_per_block: 232448
      l2_bytes: 62914560
      name: "NVIDIA H200"
    config:
      tile_m: 128
    evidence: measured
)";
  CHECK(text.substr(0, expected.size()) == expected);
  CHECK(text.find("\n    median_seconds: 0.0003333333333333333\n") != std::string::npos);
}

TEST_CASE("A database exported and imported elsewhere is the same", "[yaml]") {
  const TemporaryDirectory directory;
  Warnings warnings;
  auto first = open_results(directory / "a.db", warnings);
  first.record(varied_rows());
  auto second = open_results(directory / "b.db", warnings);
  second.record(import_yaml(export_yaml(first.list()), "a.yaml"));
  second.record(import_yaml(export_yaml(first.list()), "a.yaml"));  // once more changes nothing
  CHECK(export_yaml(second.list()) == export_yaml(first.list()));
  CHECK(second.list().size() == 4);
}

TEST_CASE("A wrong value is refused with file, line, field, value and remedy", "[yaml]") {
  struct Case {
    const char* from;
    const char* to;
    const char* field;
    const char* remedy;
  };
  const auto wrong = GENERATE(values<Case>(
      {{"tile_m: 128", "tile_m: many", "config.tile_m", "a whole number"},
       {"tile_m: 128", "tile_m: -3", "config.tile_m", "at least 1"},
       {"tile_m: 128", "tile_q: 128", "config.tile_q", "known ones: family, tile_m"},
       {"tile_m: 128", "tile_m:", "config.tile_m", "give one or remove the line"},
       {"tile_m: 128", "tile_m: [1]", "config.tile_m", "single value"},
       {"tile_m: 128", "tile_m: 99999999999", "config.tile_m", "a whole number"},
       {"tile_m: 128", "family: fa9", "config.family", "one of: unfused"},
       {"sequences: 16", "sequences: 0", "bucket.sequences", "at least 1"},
       {"evidence: measured", "evidence: sure", "evidence", "one of: measured"},
       {"median_seconds: 0", "median_seconds: x0", "median_seconds", "a number"},
       {"median_seconds: 0.", "median_seconds: -0.", "median_seconds", "at least 0"},
       {"samples: 30", "samples: nan", "samples", "a whole number"},
       {"clock_mhz: 1980", "clock_mhz: inf", "clock_mhz", "a number"},
       {"clock_mhz: 1980", "clock: 1980", "clock", "clock_mhz"},
       {"passed: true", "passed: maybe", "check.passed", "true or false"},
       {"variant: {}", "variant: [a]", "variant", "must be a map"},
       {"variant: {}", "variant: {head_dim: 100}", "variant.head_dim", "8"},
       {"sm_count: 132", "sm_count: 132\n      sm_count: 1", "device.sm_count", "remove one"},
       {"when: \"2025-01-31T12:00:00Z\"", "when: \"yesterday\"", "provenance.when",
        "2025-01-31T23:59:59Z"}}));
  CAPTURE(wrong.from, wrong.to);
  const std::string text = replaced(export_yaml({sample_row()}), wrong.from, wrong.to);
  std::string field;
  const std::string message = error_of(text, &field);
  int line = line_of(text, wrong.to);
  if (std::string(wrong.to).find('\n') != std::string::npos) ++line;
  CHECK_THAT(message, Catch::StartsWith("rows.yaml:" + std::to_string(line) + ": "));
  CHECK_THAT(message, Catch::Contains(wrong.field) && Catch::Contains(wrong.remedy));
  CHECK(field == wrong.field);
}

TEST_CASE("A wrong document is refused with file, line and remedy", "[yaml]") {
  const std::string good = export_yaml({sample_row()});
  CHECK_THAT(error_of(""), Catch::StartsWith("rows.yaml: ") && Catch::Contains("document"));
  CHECK_THAT(error_of("[1, 2]"), Catch::StartsWith("rows.yaml:1: ") && Catch::Contains("map"));
  CHECK_THAT(error_of("entries: []"), Catch::Contains("heddle_results: 1"));
  CHECK_THAT(error_of("heddle_results: 1"), Catch::Contains("entries: []"));
  CHECK_THAT(error_of("heddle_results: 2\nentries: []"), Catch::Contains("upgrade heddle"));
  CHECK_THAT(error_of("heddle_results: 1\nentries: {}"), Catch::StartsWith("rows.yaml:2: "));
  CHECK_THAT(error_of("heddle_results: 1\nentries: []\nmore: 1"),
             Catch::StartsWith("rows.yaml:3: more: "));
  CHECK_THAT(error_of(good + "---\nx: 1\n"), Catch::Contains("2 documents"));
  CHECK_THAT(error_of("heddle_results: 1\nentries:\n  - a: [\n"),
             Catch::StartsWith("rows.yaml:") && Catch::Contains("correct"));
  CHECK_THAT(error_of(good + "\xff"), Catch::Contains("UTF-8"));
  CHECK_THAT(error_of(std::string(5000, '[')), Catch::StartsWith("rows.yaml"));
  const std::string missing = replaced(good, "    config:\n      tile_m: 128\n", "");
  CHECK_THAT(error_of(missing), Catch::StartsWith("rows.yaml:4: config: "));
}
