// What the suites measure and what they make of it: pure parts, with made-up times.
#include <catch2/catch.hpp>

#include "cli/flags.hpp"
#include "cli/suites/decode.hpp"
#include "cli/suites/dram_counters.hpp"
#include "cli/suites/generations.hpp"
#include "cli/suites/io_traffic.hpp"
#include "cli/suites/lengths.hpp"
#include "cli/suites/parallelism.hpp"
#include "cli/suites/profiler.hpp"
#include "cli/suites/sweep.hpp"
#include "generator/cost_model.hpp"
#include "generator/error.hpp"
#include "generator/legality.hpp"

namespace heddle {
namespace {

using Catch::Contains;

const DeviceLimits& hopper() {
  static const DeviceLimits limits = find_architecture("sm_90a");
  return limits;
}

SuiteCase default_of(const Problem& problem, Family family) {
  return {std::string(enum_name(family)), problem, family_default(family, problem, hopper()),
          Match::kDefault};
}

std::vector<SuiteCase> flat(const std::vector<std::vector<SuiteCase>>& cells) {
  std::vector<SuiteCase> all;
  for (const auto& cell : cells) all.insert(all.end(), cell.begin(), cell.end());
  return all;
}

/// What the suite's plot is drawn from.
CsvTable records_of(const BenchSuiteReport& report, const Facts& facts = {{"command", "none"}}) {
  return {report_csv(report, facts), "own.csv"};
}

const CsvRow& row_with(const BenchSuiteReport& report, const std::string& first,
                       const std::string& second) {
  for (const auto& row : report.table) {
    if (row[0] == first && row[1] == second) return row;
  }
  FAIL("no row " << first << " " << second);
  return report.table.front();
}

}  // namespace

TEST_CASE("every kernel of the suites is legal on Hopper") {
  std::vector<SuiteCase> cases = flat(io_cases(kSweepLengths, default_of));
  for (const auto& more :
       {generation_cases(kSweepLengths, default_of), parallelism_cases(default_of)}) {
    for (const SuiteCase& entry : flat(more)) cases.push_back(entry);
  }
  CHECK(cases.size() == 7 * 4 + 2 * 2 * 6 * 5 + (4 + 3 + 5 + 3));
  for (const SuiteCase& entry : cases) {
    INFO(problem_words(entry.problem) << ": " << canonical_text(entry.config));
    CHECK_FALSE(reject_problem(entry.problem).has_value());
    CHECK_FALSE(reject(entry.problem.variant, entry.config, hopper()).has_value());
  }
}

TEST_CASE("fa1-io puts counted bytes, counters and the paper beside each other") {
  const auto cases = flat(io_cases({4096}, default_of));
  REQUIRE(cases.size() == 8);
  // 12 bytes of workspace traffic a score, but for what L2 keeps, beside Q, K, V and O.
  const double scores = 4.0 * 16 * 4096 * 4096;
  const double unfused = counted_hbm_bytes(cases[0], hopper());
  CHECK(unfused > 0.9 * 12 * scores);
  CHECK(unfused < 1.01 * (12 * scores + 4 * 4.0 * 16 * 4096 * 64 * 2));
  // 64 query tiles read K and V of all 64 heads at once: each pass but the first finds in L2 part
  // of what 0.765 of it keep, all of it if the blocks walk in step.
  const double tensor = 4.0 * 16 * 4096 * 64 * 2;
  const double in_step = 2 * tensor - 0.765 * static_cast<double>(hopper().l2_bytes);
  const double fa1 = counted_hbm_bytes(cases[1], hopper());
  CHECK(fa1 > 4 * tensor + 63 * in_step);
  CHECK(fa1 < 4 * tensor + 63 * 1.3 * in_step);

  // Q and O, log-sum-exps, K and V once for each of 64 tiles of 64 rows; and the scores.
  CHECK(cases[1].config.tile_m == 64);
  const double fused = 4.0 * 16 * (2 * 4096 * 64 * 2 + 4 * 4096 + 2 * 64 * 4096 * 64 * 2);
  CHECK(asked_bytes(cases[1], hopper()) == fused);
  SuiteCase tiled = cases[0];
  tiled.config.tile_m = 64;
  CHECK(asked_bytes(tiled, hopper()) == fused + 12 * scores);
  SuiteCase split = cases[2];
  split.config.split_kv = true;
  CHECK(asked_bytes(split, hopper()) == std::nullopt);

  std::vector<IoMeasurement> measurements;
  for (const SuiteCase& entry : cases) {
    IoMeasurement& measurement = measurements.emplace_back();
    measurement.entry = entry;
    measurement.timing.seconds = 1e-3;
    measurement.counted_bytes = counted_hbm_bytes(entry, hopper());
  }
  measurements[0].counter_bytes = 2 * unfused;
  measurements[1].timing = {0, 0, 0, "no memory"};
  const BenchSuiteReport report = io_report(measurements, "a profiler", load_peers());
  const auto& first = row_with(report, "4 x 4096", "unfused");
  CHECK(first[6] == "2.00");
  CHECK(first[7] == "1.000 ms");
  CHECK(first[9] == "-");
  CHECK(row_with(report, "4 x 4096", "fa1")[7] == "-");
  CHECK(row_with(report, "4 x 4096", "fa2")[5] == "-");
  CHECK(row_with(report, "64 x 1024", "unfused")[9] == "40.3");
  CHECK(row_with(report, "64 x 1024", "fa1")[9] == "4.4");
  CHECK(row_with(report, "64 x 1024", "fa3")[9] == "-");
  CHECK_THAT(report.notes.front(), Contains("fa1") && Contains("no memory"));
  CHECK(report.notes[1] ==
        "model within 15 % of the counters in 0 of 1; beyond: unfused 4096 (-50 %)");
  REQUIRE(report.records.rows.size() == 8);
  for (const auto& row : report.records.rows) CHECK(row.size() == report.records.columns.size());
  // The paper's problem is no point of the sweep.
  const Plot plot = io_plot(records_of(report), load_peers());
  REQUIRE(plot.panels.size() == 2);
  CHECK(plot.panels[0].series[0].points.size() == 1);  // of the counters
  CHECK(plot.panels[0].series[4].points.size() == 1);  // of the model
  CHECK(plot.panels[1].series[1].points.empty());
}

TEST_CASE("the profiler is asked for one call of this very kernel") {
  SuiteCase entry = default_of(io_cases({1024}, default_of)[0][0].problem, Family::kFa1);
  entry.config.tile_m = 128;
  const auto words = profiler_command("/opt/ncu", dram_metrics(), entry, 1, {"--nvrtc", "x"});
  CHECK(words.front() == "/opt/ncu");
  std::string line;
  for (const std::string& word : words) line += word + ' ';
  CHECK_THAT(line,
             Contains("--launch-count 1 --metrics "
                      "dram__bytes_read.sum,dram__bytes_write.sum --csv --print-units base /"));
  CHECK_THAT(line, Contains(" bench --samples 1 --family fa1 "));
  CHECK_THAT(line, Contains("--batch 16 ") && Contains("--seqlen-q 1024 ") &&
                       Contains("--head-dim 64 ") && Contains("--dtype fp16 ") &&
                       Contains("--set tile_m=128 ") && Contains("--set warps=") &&
                       Contains("--nvrtc x "));
  // What does not apply to fa1 must keep its default.
  CHECK_THAT(line, !Contains("ping_pong") && !Contains("reference="));
}

TEST_CASE("bytes are read out of what the profiler prints") {
  const std::string output =
      "==PROF== Connected\n"
      "a card; median of samples\n"
      "\"ID\",\"Kernel Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n"
      "\"0\",\"heddle_fa1_attention\",\"dram__bytes_read.sum\",\"byte\",\"1,234,567\"\n"
      "\"0\",\"heddle_fa1_attention\",\"dram__bytes_write.sum\",\"byte\",\"1000\"\n";
  CHECK(parse_dram_bytes(output, 1) == 1235567.0);
  CHECK(parse_dram_bytes(output, 3) == std::nullopt);  // two kernels of three are missing
  CHECK(parse_dram_bytes("==ERROR== no permission\n", 1) == std::nullopt);
  CHECK(parse_dram_bytes("\"dram__bytes_read.sum\",\"n/a\"\n\"dram__bytes_write.sum\",\"1\"\n",
                         1) == std::nullopt);
}

TEST_CASE("fa2-parallelism counts blocks, waves and what crosses shared memory") {
  const auto cells = parallelism_cases(default_of);
  const SuiteCase fa1 = cells[0][0], fa2 = cells[0][1], split = cells[0][2];
  CHECK(split.problem.sizes.num_splits == 2);
  CHECK(split.config.split_kv);
  CHECK(split.label == "fa2, 2 splits");
  const Occupancy few = occupancy_of(fa1, hopper());
  CHECK(few.blocks == 4);  // a block walks a whole head
  CHECK(few.busy_sms == Approx(4.0 / hopper().sm_count));
  const Occupancy many = occupancy_of(fa2, hopper());
  CHECK(many.blocks == 4 * ((16384 + fa2.config.tile_m - 1) / fa2.config.tile_m));
  CHECK(many.busy_sms == 1);
  CHECK(occupancy_of(split, hopper()).blocks == 2 * many.blocks);
  CHECK(many.seconds < few.seconds / 10);

  // By hand, tiles of 64 x 64, head dim 128, four warps. fa2: K and V in by cp.async, both read by
  // every warp, Q by the one that owns the rows.
  SuiteCase tile = fa2;
  tile.config = {};
  tile.config.family = Family::kFa2;
  const double tile_bytes = 64.0 * 128 * 2, steps = 4.0 * 256 * 256;
  CHECK(occupancy_of(tile, hopper()).shared_bytes == steps * (2 + 4 * 2 + 1) * tile_bytes);
  // fa1: K and V in; each of two teams of rows reads K and V once; all rows of Q by each of the
  // four warps that split the keys; fp32 outputs of three of them written and read.
  tile.config.family = Family::kFa1;
  CHECK(occupancy_of(tile, hopper()).shared_bytes ==
        steps * ((2 + 2 * 2 + 4) * tile_bytes + 2 * 3 * 64 * 128 * 4));

  const auto cases = flat(cells);
  const std::vector<SuiteTiming> timings(cases.size(), SuiteTiming{2e-3, 1e-5, 0, ""});
  const BenchSuiteReport report = parallelism_report(cases, timings, hopper(), load_peers());
  CHECK(report.table.size() == cases.size() + 1);
  CHECK(row_with(report, "1 x 4 heads, 16384 x 16384", "fa1")[2] == "4");
  CHECK_THAT(report_text(report, {}), Contains("25 % to 40 %") && Contains("arXiv:2307.08691"));
  const Plot plot = parallelism_plot(records_of(report), load_peers());
  REQUIRE(plot.groups.size() == 4);
  std::size_t bars = 0;
  for (const BarGroup& group : plot.groups) bars += group.bars.size();
  CHECK(bars == cases.size());
  CHECK(plot.groups[0].bars[0].second == Approx(2));  // milliseconds
  for (const auto& row : report.records.rows) CHECK(row.size() == report.records.columns.size());
}

TEST_CASE("generations has each of five beside what others have") {
  const auto cases = flat(generation_cases({1024, 4096}, default_of));
  REQUIRE(cases.size() == 4 * 2 * 5);
  CHECK(cases[4].problem.variant.dtype == DataType::kE4m3);
  std::vector<SuiteTiming> timings(cases.size());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    timings[i].seconds = flop_count(cases[i].problem) / (100e12 * static_cast<double>(i % 5 + 1));
  }
  timings[0] = {0, 0, 0, "too large"};
  const BenchSuiteReport report = generation_report(cases, timings, load_peers());
  REQUIRE(report.table.size() == 9);
  const CsvRow expected{
      "d 64, full 1024", "-", "200", "300", "400", "500", "-", "260", "388", "442"};
  CHECK(report.table[1] == expected);
  CHECK_THAT(report.notes.front(), Contains("unfused") && Contains("too large"));
  const Plot plot = generation_plot(records_of(report), load_peers());
  REQUIRE(plot.panels.size() == 4);
  CHECK(plot.panels[0].series[0].points.size() == 1);
  CHECK(plot.panels[3].title == "d 128, causal");
  const auto& points = plot.panels[3].series[3].points;
  REQUIRE(points.size() == 2);
  CHECK(points[1].first == 4096);
  CHECK(points[1].second == Approx(400));
  REQUIRE(report.records.rows.size() == cases.size());
  for (const auto& row : report.records.rows) CHECK(row.size() == report.records.columns.size());
}

TEST_CASE("decode has the shapes of the peers' table and rates of K and V") {
  const Peers peers = load_peers();
  const auto cases =
      decode_cases(peers, [](const Problem& problem) { return default_of(problem, Family::kFa2); });
  REQUIRE(cases.size() == 6);
  CHECK(cases[0].problem.sizes.seqlen_q == 1);
  // 8 heads, 4096 keys of 128 bf16, K and V.
  CHECK(key_value_bytes(cases[0].problem) == 8.0 * 4096 * 128 * 2 * 2);
  std::vector<SuiteTiming> timings(6);
  timings[0].seconds = key_value_bytes(cases[0].problem) / 1974e9;
  for (std::size_t i = 1; i < 6; ++i) timings[i].failure = "no memory";
  const BenchSuiteReport report = decode_report(cases, timings, peers);
  CHECK(report.table[1][0] == "1 x 4096");
  CHECK(report.table[1][2] == "1974");
  CHECK(report.table[1][3] == "2.00");  // FA3, cold: 987
  CHECK(report.table[2][3] == "-");
  const Plot plot = decode_plot(records_of(report), load_peers());
  REQUIRE(plot.groups.size() == 6);
  CHECK(plot.groups[0].bars.size() == 5);
  CHECK(plot.groups[1].bars.size() == 4);  // not measured here
  for (const auto& row : report.records.rows) CHECK(row.size() == report.records.columns.size());
}

TEST_CASE("lengths draws what bench/compare.py wrote, and carries FA3 over by cuDNN") {
  const std::string head =
      "dtype,head_dim,heads,mask,length,batch,implementation,tflops,gpu,driver,date,command\n";
  const std::string facts = ",a synthetic card,0.0,1970-01-01,\"none, made up\"\n";
  const std::string text = head + "bf16,128,16,full,4096,4,heddle,100" + facts +
                           "bf16,128,16,full,4096,4,cudnn,67.05" + facts +
                           "bf16,128,16,full,512,32,heddle,50" + facts +
                           "bf16,128,16,causal,4096,4,flash,20" + facts;
  const BenchSuiteReport report = lengths_report(CsvTable(text, "made_up.csv"), load_peers());
  REQUIRE(report.table.size() == 4);
  CHECK(report.table[1] == CsvRow{"d 128, full 512", "50", "-", "-", "519", "-", "-", "-", "242"});
  // There FA3 has 721.8 and cuDNN 670.5; here cuDNN has a tenth.
  CHECK(report.table[2] ==
        CsvRow{"d 128, full 4096", "100", "67", "-", "722", "72", "1.491", "1.385", "332"});
  CHECK(report.table[3][3] == "20");
  const Plot plot =
      lengths_plot(records_of(report, lengths_facts(CsvTable(text, "made_up.csv"))), load_peers());
  REQUIRE(plot.panels.size() == 2);
  CHECK_THAT(plot.about[1], Contains("a synthetic card"));
  const auto points = [&](std::size_t panel, std::size_t series) {
    return plot.panels[panel].series[series].points.size();
  };
  CHECK(plot.panels[0].series[4].name == "FA2 (another run)");
  CHECK(points(0, 4) == 2);  // this run has none there
  CHECK(points(1, 3) == 1);
  CHECK(points(1, 4) == 0);  // and here it has
  CHECK(lengths_facts(CsvTable(text, "made_up.csv"))[3].second == "none, made up");
  CHECK_THROWS_AS(lengths_report(CsvTable(head, "empty.csv"), load_peers()), Error);
  CHECK_THROWS_AS(lengths_report(CsvTable("a\n1\n", "other.csv"), load_peers()), Error);
  for (const char* other : {"bf16,128,16,full,4096,1,heddle,100", "bf16,128,8,full,4096,4,heddle,1",
                            "fp16,128,16,full,4096,4,heddle,100"}) {
    CHECK_THROWS_WITH(lengths_report(CsvTable(head + other + facts, "other.csv"), load_peers()),
                      Contains("is not of the sweep"));
  }
}

}  // namespace heddle
