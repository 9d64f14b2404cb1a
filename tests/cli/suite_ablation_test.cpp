// The ablation's table: figures in their places, the best tile, what the paper has.
#include "cli/suites/ablation.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

namespace heddle {
namespace {

using Catch::Contains;

/// A timing of so many TFLOP/s whose quartiles are a fiftieth of it apart.
SuiteTiming timing_of(double tflops) {
  SuiteTiming timing;
  timing.seconds = flop_count(pipeline_problem()) / tflops * 1e-12;
  timing.spread_seconds = timing.seconds / 50;
  return timing;
}

/// Two tiles; the first is best with all on, the second without an overlap.
struct Sample {
  std::vector<AblationKernel> kernels;
  std::vector<SuiteTiming> timings;

  Sample() {
    for (const char* tile : {"first", "second"}) {
      for (int ablation = 0; ablation < 5; ++ablation) {
        kernels.push_back({static_cast<Ablation>(ablation), tile, {}});
      }
    }
    for (const double rate : {700, 690, 600, 500, 450, 650, 640, 630, 560, 550}) {
      timings.push_back(timing_of(rate));
    }
  }
};

/// The line of a table that begins so.
std::string line_of(const std::string& table, const std::string& title) {
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind(title + "  ", 0) == 0) return line;
  }
  return {};
}

}  // namespace

TEST_CASE("what the paper has comes from the peers' file, with its source") {
  const Peers peers = load_peers();
  std::map<std::string, double> figures;
  for (const PeerFigure& figure : peers.ablation_tflops) {
    CHECK(figure.source == "fa3_paper");
    figures[figure.peer] = figure.most;
  }
  CHECK(figures == std::map<std::string, double>{
                       {"all_on", 661}, {"no_overlap", 582}, {"no_warp_specialisation", 570}});
  CHECK_THAT(peers.sources.at("fa3_paper").text, Contains("arXiv:2407.08608"));
  CHECK_THAT(peers.sources.at("fa3_paper").device, Contains("H100"));
}

TEST_CASE("the ablation's table names the best tile of each row and its share of all on") {
  const Sample sample;
  const std::string table =
      report_text(ablation_report(sample.kernels, sample.timings, load_peers()), {});
  INFO(table);
  CHECK_THAT(line_of(table, "all on"), Contains("700 +-7") && Contains("650 +-6") &&
                                           Contains("700: first") && Contains("1.00") &&
                                           Contains("661"));
  CHECK_THAT(line_of(table, "no overlap"),
             Contains("630: second") && Contains("0.90") && Contains("582") && Contains("0.88"));
  CHECK_THAT(line_of(table, "no warp specialisation"),
             Contains("560: second") && Contains("0.80") && Contains("570") && Contains("0.86"));
  CHECK_THAT(line_of(table, "no ping-pong"), Contains("690: first") && Contains("0.99"));
  CHECK_THAT(table, Contains("published: ") && Contains("arXiv:2407.08608"));
}

TEST_CASE("the ablation's JSON has every kernel and the paper's figures") {
  const Sample sample;
  const auto json = nlohmann::json::parse(
      report_json(ablation_report(sample.kernels, sample.timings, load_peers()), {}));
  REQUIRE(json["rows"].size() == 10);
  CHECK(json["rows"][2]["ablation"] == "no_overlap");
  CHECK(json["rows"][2]["tflops"].get<double>() == Approx(600));
  CHECK(json["rows"][2]["published_tflops"] == 582);
  CHECK(json["rows"][1]["published_tflops"].is_null());
  CHECK(json["rows"][3]["published_tflops"] == 570);
}

TEST_CASE("the ablation's plot has the best tile of each beside the paper's") {
  const Sample sample;
  const BenchSuiteReport report = ablation_report(sample.kernels, sample.timings, load_peers());
  const std::string csv = report_csv(report, {{"command", "none"}});
  const Plot plot = ablation_plot(CsvTable(csv, "own.csv"), load_peers());
  REQUIRE(plot.groups.size() == 5);
  REQUIRE(plot.groups[0].bars.size() == 2);
  CHECK(plot.groups[0].bars[0].second == Approx(700));
  CHECK(plot.groups[0].bars[1].second == 661);
  CHECK(plot.groups[1].bars.size() == 1);  // the paper has no such row
  CHECK(plot.groups[2].bars[0].second == Approx(630));
}

TEST_CASE("a kernel of the ablation that was not measured leaves dashes and says why") {
  Sample sample;
  for (std::size_t i : {2U, 7U}) sample.timings[i] = {0, 0, 0, "spills"};
  const std::string table =
      report_text(ablation_report(sample.kernels, sample.timings, load_peers()), {});
  INFO(table);
  CHECK_THAT(line_of(table, "no overlap"), Contains(" -  ") && !Contains("600"));
  CHECK_THAT(table, Contains("not measured: no overlap, first") && Contains("spills"));
}

}  // namespace heddle
