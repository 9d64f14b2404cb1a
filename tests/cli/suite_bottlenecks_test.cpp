// The suite `bottlenecks` with a made-up profiler: what is read out of its CSV, what agrees.
#include <catch2/catch.hpp>

#include "cli/flags.hpp"
#include "cli/suites/bottlenecks.hpp"
#include "generator/cost_model.hpp"
#include "generator/legality.hpp"
#include "tests/cli/unit_shares.hpp"

namespace heddle {
namespace {

using Catch::Contains;

/// As `ncu --page raw --csv` prints: names, units, a line a kernel; other programs' lines between.
const std::string kRawPage =
    "==PROF== Connected to process 4242 (/opt/heddle)\n"
    "==PROF== Profiling \"heddle_unfused_scores\" - 0: 0%....50%....100% - 12 passes\n"
    "a card; median of samples timed by events, launch cost hidden\n"
    "\n"
    "\"ID\",\"Process ID\",\"Kernel Name\",\"Block Size\",\"gpu__dram_throughput.avg.pct_of_peak_"
    "sustained_elapsed\",\"gpu__time_duration.sum\",\"l1tex__data_bank_reads.avg.pct_of_peak_"
    "sustained_elapsed\",\"l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed\","
    "\"lts__throughput.avg.pct_of_peak_sustained_elapsed\",\"sm__inst_executed_pipe_alu.avg.pct_of_"
    "peak_sustained_active\",\"sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active\","
    "\"sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_elapsed\",\"sm__pipe_tensor_cycles_"
    "active.avg.pct_of_peak_sustained_active\",\"smsp__average_warps_issue_stalled_long_scoreboard_"
    "per_issue_active.ratio\",\"smsp__average_warps_issue_stalled_selected_per_issue_active."
    "ratio\","
    "\"smsp__average_warps_issue_stalled_wait_per_issue_active.ratio\",\"smsp__issue_active.avg."
    "pct_"
    "of_peak_sustained_active\"\n"
    "\"\",\"\",\"\",\"\",\"%\",\"ns\",\"%\",\"%\",\"%\",\"%\",\"%\",\"%\",\"%\",\"inst\",\"inst\","
    "\"inst\",\"%\"\n"
    "\"0\",\"4242\",\"heddle_unfused_scores\",\"(256, 1, 1)\",\"90\",\"3,000,000\",\"20\",\"30\","
    "\"50\",\"7\",\"9\",\"8\",\"25\",\"4\",\"9\",\"2\",\"12\"\n"
    "\"1\",\"4242\",\"heddle_unfused_softmax\",\"(256, 1, 1)\",\"70\",\"1,000,000\",\"40\",\"10\","
    "\"50\",\"7\",\"9\",\"8\",\"n/a\",\"8\",\"1\",\"2\",\"12\"\n";

UnitCounters with(std::initializer_list<std::pair<GpuUnit, double>> busy,
                  const std::string& stall = {}) {
  UnitCounters counters;
  for (const auto& [unit, percent] : busy) counters.busy[static_cast<std::size_t>(unit)] = percent;
  if (!stall.empty()) counters.stalls = {{stall, 3}, {"wait", 1}, {"selected", 9}};
  return counters;
}

Bottleneck default_bottleneck(const SuiteCase& entry) {
  const DeviceLimits& limits = find_architecture("sm_90a");
  return {entry, roofline(entry.problem, entry.config, limits),
          predict(entry.problem, entry.config, limits).seconds, std::nullopt};
}

std::vector<SuiteCase> default_cases() {
  const DeviceLimits& limits = find_architecture("sm_90a");
  const auto choose = [&](const Problem& problem, Family family) {
    return SuiteCase{"", problem, family_default(family, problem, limits)};
  };
  return bottleneck_cases(choose,
                          [&](const Problem& problem) { return choose(problem, Family::kFa3); });
}

UnitCounters recorded(const UnitShares& shares) {
  return with({{GpuUnit::kTensor, shares.tensor},
               {GpuUnit::kExponential, shares.exponential},
               {GpuUnit::kIssue, shares.issue},
               {GpuUnit::kShared, shares.shared},
               {GpuUnit::kL2, shares.l2},
               {GpuUnit::kHbm, shares.hbm}},
              shares.stall);
}

/// As the driver tells them of the card that the shares were recorded on.
DeviceLimits live_h200() {
  DeviceLimits limits = find_architecture("sm_90a");
  limits.clock_ghz = 1.98;
  limits.hbm_bytes_per_second = 2 * 3201e6 * 6144 / 8;
  return limits;
}

/// The ceilings that explain names for the recorded configs, beside the recorded shares.
int count_agreeing(const DeviceLimits& limits) {
  const auto cases = default_cases();
  REQUIRE(cases.size() == std::size(kUnitShares));
  int agreeing = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const UnitShares& shares = kUnitShares[i];
    REQUIRE(cases[i].label == shares.label);
    const auto config = parse_canonical<KernelConfig>(shares.config);
    const Roofline roof = roofline(cases[i].problem, config, limits);
    const Agreement agreement = agreement_of(binding_ceilings(roof), recorded(shares));
    UNSCOPED_INFO(shares.label << ": " << lowest_ceilings(roof) << ", "
                               << agreement_word(agreement));
    agreeing += agreement != Agreement::kNone && agreement != Agreement::kUnknown;
  }
  return agreeing;
}

}  // namespace

TEST_CASE("explain names what an H200's profiler found for at least 8 of the 10 problems") {
  CHECK(count_agreeing(find_architecture("sm_90a")) >= 8);
  CHECK(count_agreeing(live_h200()) >= 8);
}

TEST_CASE("units, time and stalls are read out of the profiler's raw page") {
  const auto kernels = parse_unit_counters(kRawPage);
  REQUIRE(kernels.size() == 2);
  const UnitCounters& first = kernels[0];
  CHECK(first.seconds == Approx(3e-3));
  CHECK(first.of(GpuUnit::kHbm) == 90);
  CHECK(first.of(GpuUnit::kL2) == 50);
  CHECK(first.of(GpuUnit::kShared) == 30);      // the busier of its ports
  CHECK(first.of(GpuUnit::kExponential) == 8);  // of all cycles, where that is told
  CHECK(first.of(GpuUnit::kTensor) == 25);      // else of those with work
  CHECK(first.of(GpuUnit::kIssue) == 12);       // by scheduler, for want of the SM's
  CHECK(first.alu == 7);
  CHECK(first.fma == std::nullopt);
  CHECK(first.busiest() == GpuUnit::kHbm);
  CHECK(first.top_stall() == "long_scoreboard");           // being selected is no wait
  CHECK(kernels[1].of(GpuUnit::kTensor) == std::nullopt);  // n/a
  CHECK(parse_unit_counters("==ERROR== ERR_NVGPUCTRPERM\n").empty());

  const UnitCounters whole = whole_call(kernels);
  CHECK(whole.seconds == Approx(4e-3));
  CHECK(*whole.of(GpuUnit::kHbm) == Approx(0.75 * 90 + 0.25 * 70));
  CHECK(*whole.of(GpuUnit::kShared) == Approx(0.75 * 30 + 0.25 * 40));
  CHECK(whole.stalls.at("long_scoreboard") == Approx(5));
}

TEST_CASE("a ceiling agrees where its unit is busiest or near, or warps wait for it") {
  using Unit = GpuUnit;
  const auto busy = with({{Unit::kTensor, 80}, {Unit::kExponential, 76}, {Unit::kL2, 50}}, "gmma");
  CHECK(agreement_of({"tensor"}, busy) == Agreement::kPipe);
  CHECK(agreement_of({"exp"}, busy) == Agreement::kNear);
  CHECK(agreement_of({"exp", "tensor"}, busy) == Agreement::kPipe);  // a tie
  CHECK(agreement_of({"L2"}, busy) == Agreement::kNone);
  CHECK(agreement_of({"HBM"}, busy) == Agreement::kNone);  // not told
  CHECK(agreement_of({"load latency"}, busy) == Agreement::kNone);
  CHECK(agreement_of({"tensor"}, {}) == Agreement::kUnknown);

  const auto idle = with({{Unit::kTensor, 10}, {Unit::kL2, 30}}, "long_scoreboard");
  CHECK(agreement_of({"load latency"}, idle) == Agreement::kStall);
  CHECK(agreement_of({"tensor"}, idle) == Agreement::kNone);
  CHECK(agreement_of({"launch"}, idle) == Agreement::kNone);
  // Where a unit is busy, waiting for something else says nothing.
  const auto bound = with({{Unit::kTensor, 90}, {Unit::kHbm, 20}}, "long_scoreboard");
  CHECK(agreement_of({"HBM"}, bound) == Agreement::kNone);
}

TEST_CASE("bottlenecks puts ten ceilings beside what the profiler says") {
  const auto cases = default_cases();
  REQUIRE(cases.size() == 10);
  std::vector<Bottleneck> found;
  for (const SuiteCase& entry : cases) {
    INFO(entry.label << ": " << canonical_text(entry.config));
    CHECK_FALSE(reject_problem(entry.problem).has_value());
    CHECK_FALSE(reject(entry.problem.variant, entry.config, find_architecture("sm_90a")));
    found.push_back(default_bottleneck(entry));
  }
  CHECK(found[0].roof.binding == "L2");
  CHECK(found[1].roof.binding == "shared memory");  // of the 16 SMs that have a block
  found[0].counters = whole_call(parse_unit_counters(kRawPage));
  found[0].counters->busy[static_cast<std::size_t>(GpuUnit::kL2)] = 90;     // explain says L2
  found[9].counters = with({{GpuUnit::kTensor, 90}, {GpuUnit::kHbm, 70}});  // explain says HBM
  const BenchSuiteReport report = bottleneck_report(found, "made up");
  REQUIRE(report.table.size() == 11);
  CHECK(report.table[1][0] == "unfused d 128 full 4096");
  CHECK(report.table[1][1] == "L2");
  CHECK(report.table[1][4] == "4.000 ms");
  CHECK(report.table[1][10] == "85");
  CHECK(report.table[1][13] == "long_scoreboard");
  CHECK(report.table[1].back() == "busiest");
  CHECK(report.table[2].back() == "-");
  CHECK(report.table[10].back() == "no");
  CHECK_THAT(report.notes.front(), Contains("agrees with the profiler in 1 of 10: 1 busiest, 0 "
                                            "within 5 points of it, 0 by what warps wait for; 8 "
                                            "without counters"));
  for (const auto& row : report.table) CHECK(row.size() == report.table[0].size());
  for (const auto& row : report.records.rows) CHECK(row.size() == report.records.columns.size());
  const Plot plot = bottleneck_plot(CsvTable(report_csv(report, {{"command", "none"}}), "own"), {});
  REQUIRE(plot.groups.size() == 10);
  CHECK(plot.groups[0].bars.size() == 6);
  CHECK(plot.groups[1].bars.empty());
}

TEST_CASE("the profiler is asked for sections, which every GPU has") {
  std::string asked;
  for (const std::string& word : unit_sections()) asked += word + ' ';
  CHECK(asked ==
        "--section SpeedOfLight --section ComputeWorkloadAnalysis --section SchedulerStats "
        "--section WarpStateStats --page raw ");
}

}  // namespace heddle
