// The report page: what it says, and that it needs nothing else.
#include "cli/report_page.hpp"

#include <catch2/catch.hpp>

#include "cli/report_charts.hpp"
#include "cli/report_data.hpp"
#include "cli/report_knobs.hpp"

namespace heddle {
namespace {

using Catch::Contains;

Measurement row_of(int tile_m, double relative, double elapsed) {
  Measurement row;
  row.variant.head_dim = 128;
  row.sizes = {.batch = 2, .heads = 32, .kv_heads = 8, .seqlen_q = 4096, .seqlen_kv = 4096};
  row.bucket = bucket_of(row.sizes);
  row.device = {.capability_major = 9,
                .capability_minor = 0,
                .sm_count = 132,
                .shared_bytes_per_block = 232448,
                .l2_bytes = 62914560,
                .name = "Fake <H200> & co"};
  row.config.tile_m = tile_m;
  row.median_seconds = 1e-3 * relative;
  row.relative = relative;
  row.samples = 20;
  row.elapsed_seconds = elapsed;
  row.tuning = "first";
  row.check = CheckRecord{.passed = true};
  row.provenance.when = "2026-01-01T00:00:00Z";
  return row;
}

std::vector<Measurement> a_tuning() {
  std::vector<Measurement> rows{row_of(64, 1, 1), row_of(128, 0.8, 2), row_of(256, 0.9, 3),
                                row_of(64, 1, 9), row_of(128, 0.8, 9)};
  rows.back().chosen = true;
  rows.back().noise = 0.0025;
  Measurement failure = row_of(512, 0, 4);
  failure.evidence = Evidence::kFailed;
  failure.failure = "timed out: no answer within 10 s";
  rows.push_back(failure);
  return rows;
}

TEST_CASE("A tuning's course, winner, default, noise and knobs") {
  const auto tunings = tunings_of(a_tuning());
  REQUIRE(tunings.size() == 1);
  const TuningView& tuning = tunings[0];
  CHECK(tuning.finished);
  CHECK(tuning.winner->config.tile_m == 128);
  CHECK(tuning.base->config.tile_m == 64);
  CHECK(tuning.speedup() == Approx(1.25));
  CHECK(tuning.noise == 0.0025);
  const auto steps = tuning.convergence();
  REQUIRE(steps.size() == 3);
  CHECK(steps[0].relative == 1);
  CHECK(steps[1].seconds == 2);
  CHECK(steps[2].seconds == 9);  // nothing better until the end
  const auto knobs = knob_effects(tuning);
  REQUIRE(knobs.size() == 1);
  CHECK(knobs[0].knob == "tile_m");
  CHECK(knobs[0].values.size() == 3);
  CHECK(knobs[0].span() == Approx(1.25));
}

TEST_CASE("An unfinished tuning shows the best so far as that") {
  auto rows = a_tuning();
  for (Measurement& row : rows) row.chosen = false;
  const auto tunings = tunings_of(rows);
  CHECK_FALSE(tunings[0].finished);
  CHECK(tunings[0].winner->relative == 0.8);
  CHECK_THAT(report_page(rows), Contains("(not finished)"));
}

TEST_CASE("Failures are counted by what they have in common") {
  auto rows = a_tuning();
  Measurement wrong = rows.back();
  wrong.failure = "wrong result: a guard band around the tensors was written to";
  rows.push_back(wrong);
  wrong.failure = "wrong result: O[batch 0] = nan";
  rows.push_back(wrong);
  const auto reasons = failures_by_reason(rows);
  REQUIRE(reasons.size() == 3);
  CHECK(reasons.at("timed out").count == 1);
  CHECK(reasons.at("wrong result").count == 1);
  CHECK(reasons.at("wrote outside its tensors").example.failure == rows[6].failure);
  CHECK_THAT(report_page(rows), Contains("O[batch 0] = nan"));
}

TEST_CASE("What a config proved to be when measured last counts, not a lucky first look") {
  auto rows = a_tuning();
  rows[2].relative = 0.7;  // as if fastest, and outrun when looked at again
  Measurement again = row_of(256, 0.9, 8);
  rows.insert(rows.begin() + 3, again);
  const auto tunings = tunings_of(rows);
  const auto steps = tunings[0].convergence();
  REQUIRE(steps.size() == 3);
  CHECK(steps.back().relative == 0.8);
  CHECK(knob_effects(tunings[0])[0].span() == Approx(1.25));
  for (Measurement& row : rows) row.chosen = false;
  CHECK(tunings_of(rows)[0].winner->config.tile_m == 128);
}

TEST_CASE("Another config that came out at exactly 1 is not taken for the default") {
  auto rows = a_tuning();
  rows[2].relative = 1;
  CHECK(tunings_of(rows)[0].base->config.tile_m == 64);
  rows.push_back(row_of(256, 1, 10));
  CHECK(tunings_of(rows)[0].base->config.tile_m == 64);
}

TEST_CASE("Problems that differ only in what is seldom asked for are rows of their own") {
  auto rows = a_tuning();
  const auto others = a_tuning();
  for (Measurement row : others) {
    row.tuning = "second";
    row.variant.dtype = DataType::kE4m3;
    rows.push_back(row);
    row.tuning = "third";
    row.variant.scales = ScaleKind::kToken;
    rows.push_back(row);
    row.tuning = "fourth";
    row.warm = true;
    rows.push_back(row);
  }
  const std::string page = report_page(rows);
  CHECK_THAT(page, Contains("over 4 problems"));
  CHECK_THAT(page, Contains(">e4m3 d128 full, batch 2, 32/8 heads, 4096 x 4096</a>"));
  CHECK_THAT(page, Contains("4096 x 4096, scales=token</a>"));
  CHECK_THAT(page, Contains("4096 x 4096, scales=token, warm inputs</a>"));
}

TEST_CASE("A finished tuning stands before a newer one that was not") {
  auto rows = a_tuning();
  Measurement newer = row_of(64, 1, 1);
  newer.tuning = "second";
  newer.provenance.when = "2026-01-02T00:00:00Z";
  rows.push_back(newer);
  CHECK_THAT(report_page(rows), Contains("1.250x") && !Contains("(not finished)"));
}

TEST_CASE("A gain inside the noise is marked, and a noise that nobody knows is no zero") {
  auto rows = a_tuning();
  CHECK(tunings_of(rows)[0].gain_is_told());
  CHECK_THAT(report_page(rows), Contains("1 of them gain") && Contains("0.25 %"));
  rows[4].noise = 0.3;
  CHECK_FALSE(tunings_of(rows)[0].gain_is_told());
  CHECK_THAT(report_page(rows), Contains("0 of them gain") && Contains("1.250x ~"));
  rows[4].noise = 0;
  CHECK_FALSE(tunings_of(rows)[0].gain_is_told());
  CHECK_THAT(report_page(rows), !Contains("0.00 %"));
}

TEST_CASE("What each knob is worth over several tunings") {
  auto rows = a_tuning();
  for (Measurement row : a_tuning()) {
    row.tuning = "second";
    row.sizes.batch = 4;
    if (row.config.tile_m == 256) row.relative = 1.6;
    rows.push_back(row);
  }
  const auto tunings = tunings_of(rows);
  const auto summary = knob_summary({&tunings[0], &tunings[1]});
  REQUIRE(summary.size() == 3);
  CHECK(summary[1].knob == "tile_m");
  CHECK(summary[1].value == "128");
  CHECK(summary[1].tunings == 2);
  CHECK(summary[1].wins == 2);
  CHECK(summary[1].mean_cost == 1);
  CHECK(summary[2].wins == 0);
  CHECK(summary[2].mean_cost == Approx(1.5));  // sqrt(0.9 / 0.8 * 1.6 / 0.8)
  CHECK(summary[2].worst_cost == Approx(2));
}

TEST_CASE("The page has every part, names from outside as text, and nothing from the network") {
  const std::string page = report_page(a_tuning());
  for (const char* part :
       {"Winners", "Default against tuned", "Roofline", "Failures by reason", "Tunings",
        "noise floor", "1.250x", "Fake &lt;H200&gt; &amp; co", "tile_m = 256",
        "prefers-color-scheme: dark", "width=device-width",
        "bf16 d128 full, batch 2, 32/8 heads, 4096 x 4096", "<code>family=fa2,<wbr>tile_m=128",
        "of roof", "fa2 bf16: tensor rate"}) {
    CHECK_THAT(page, Contains(part));
  }
  for (const char* foreign : {"<script", "http:", "https:", "src=", "url(", "@import", "<H200>"}) {
    CHECK_THAT(page, !Contains(foreign));
  }
  CHECK_THAT(page, !Contains("nan") && !Contains("inf\""));
}

TEST_CASE("A page of nothing, and of rows that no tuning made") {
  CHECK_THAT(report_page({}), Contains("0 tunings") && Contains("</html>"));
  Measurement old = row_of(64, 0, 0);
  old.tuning.clear();
  CHECK_THAT(report_page({old}), Contains("1 rows measured") && !Contains("<details>"));
}

TEST_CASE("Charts stand single points and equal values") {
  CHECK_THAT(step_chart({{1, 1, "one"}}, "x", "y"), Contains("<circle") && !Contains("nan"));
  CHECK_THAT(roofline_chart({{"roof", 100, 4, {{10, 5, "a"}, {10, 5, "b"}}}}),
             Contains("<circle") && !Contains("nan"));
  CHECK_THAT(roofline_chart({{"of an unknown device", 0, 0, {{10, 5, "a"}}}}),
             Contains("<circle") && !Contains("<path") && !Contains("nan"));
  CHECK(roofline_chart({{"roof", 100, 4, {}}}).empty());
  CHECK(step_chart({}, "x", "y").empty());
  CHECK_THAT(bar_list({{"zero", 0, "0"}}), Contains("width:0.0%"));
  CHECK_THAT(bar_list({{"equal", 1, "1"}}, {1}), Contains("width:0.0%"));
  CHECK_THAT(bar_list({{"half", 1.25, ""}, {"beyond", 9, ""}}, {1, 1.5}),
             Contains("width:50.0%") && Contains("width:100.0%"));
}

}  // namespace
}  // namespace heddle
