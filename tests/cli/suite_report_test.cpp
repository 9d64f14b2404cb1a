// A suite's table, CSV, JSON and plot, and CSV files read.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "cli/suites/csv_table.hpp"
#include "cli/suites/suite_report.hpp"
#include "generator/error.hpp"

namespace heddle {
namespace {

using Catch::Contains;

BenchSuiteReport sample_report() {
  BenchSuiteReport report;
  report.suite = "sample";
  report.method = {"a shape", "a method"};
  report.table = {{"what", "time"}, {"first", "1.0 us"}};
  report.notes = {"peer: a source"};
  report.records.columns = {"what", "seconds", "peer"};
  report.records.rows = {{std::string("first, \"quoted\""), 1.25e-6, Value()}};
  return report;
}

const Facts kFacts{{"suite", "sample"}, {"gpu", "a card"}, {"command", "heddle bench"}};

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t number = 0;
  for (auto at = text.find(part); at < text.size(); at = text.find(part, at + 1)) ++number;
  return number;
}

TEST_CASE("a suite's text says method, shape, device and sources") {
  const std::string text = report_text(sample_report(), kFacts);
  CHECK_THAT(text, Catch::StartsWith("sample; gpu a card; command heddle bench\n"
                                     "a shape\na method\n\n"));
  CHECK_THAT(text, Contains("1.0 us") && Catch::EndsWith("\npeer: a source\n"));
}

TEST_CASE("a suite's CSV has unrounded figures and the facts on every line") {
  const std::string text = report_csv(sample_report(), kFacts);
  CHECK(text ==
        "what,seconds,peer,suite,gpu,command\n"
        "\"first, \"\"quoted\"\"\",1.25e-06,,sample,a card,heddle bench\n");
  const CsvTable table(text, "sample.csv");
  REQUIRE(table.size() == 1);
  CHECK(table.text(0, "what") == "first, \"quoted\"");
  CHECK(table.number(0, "seconds") == 1.25e-6);
  CHECK(table.text(0, "peer").empty());
}

TEST_CASE("a suite's Markdown is a section of docs/evidence.md") {
  const Facts facts{{"suite", "sample"},         {"heddle", "1.2"}, {"date", "2026-12-01"},
                    {"command", "heddle bench"}, {"gpu", "a card"}, {"driver", "9"}};
  CHECK(report_markdown(sample_report(), facts) ==
        "### sample\n\n"
        "heddle 1.2, 2026-12-01, a card, driver 9, `heddle bench`.\n\n"
        "- a shape\n- a method\n\n"
        "| what | time |\n|---|---|\n| first | 1.0 us |\n\n"
        "- peer: a source\n");
  CHECK_THAT(report_markdown(sample_report(), facts, "sample.svg"),
             Contains("\n\n![sample](sample.svg)\n\n- peer"));
}

TEST_CASE("a suite's JSON has null for what is not there") {
  const auto json = nlohmann::json::parse(report_json(sample_report(), kFacts));
  CHECK(json["suite"] == "sample");
  CHECK(json["gpu"] == "a card");
  REQUIRE(json["rows"].size() == 1);
  CHECK(json["rows"][0]["seconds"] == 1.25e-6);
  CHECK(json["rows"][0]["peer"].is_null());
}

TEST_CASE("what is wrong in a CSV file is told by file, row and column") {
  const auto complaint = [](const std::string& text, const std::string& column) -> std::string {
    try {
      CsvTable(text, "rows.csv").number(0, column);
    } catch (const Error& error) {
      return error.what();
    }
    return "none";
  };
  CHECK(complaint("a,b\r\n1,2\r\n", "b") == "none");
  CHECK_THAT(complaint("a,b\n1\n", "a"), Contains("rows.csv: row 1 has 1 fields") && Contains("2"));
  CHECK_THAT(complaint("a,b\n1,2\n", "c"), Contains("no column 'c'; it has: a, b"));
  CHECK_THAT(complaint("a\nfast\n", "a"), Contains("row 1: a 'fast' is no number above 0"));
  CHECK_THAT(complaint("a\n0\n", "a"), Contains("'0'"));
  CHECK_THAT(complaint("", "a"), Contains("rows.csv is empty"));
  CHECK(parse_csv("a,\"b\nc\"\n\nd") == std::vector<CsvRow>{{"a", "b\nc"}, {"d"}});
}

TEST_CASE("quotients and dashes where something is missing") {
  CHECK(shown(quotient(3.0, 2.0), "{:.2f}") == "1.50");
  CHECK(shown(quotient(3.0, Value())) == "-");
  CHECK(shown(value_of(std::nullopt)) == "-");
  CHECK(shown(Value(std::string("word"))) == "word");
}

TEST_CASE("lines are drawn where their figures are, those of others dashed") {
  Plot plot{.title = "a <plot>", .x_name = "length", .y_name = "rate", .logarithmic_x = true};
  plot.panels = {{"left",
                  {{"ours", Tint::kBlue, false, {{512, 100}, {1024, 200}}},
                   {"theirs", Tint::kOrange, true, {{512, 50}}},
                   {"unseen", Tint::kGrey}}},
                 {"right", {}}};
  plot.notes = {std::string(300, 'n') + " end"};
  const std::string svg = plot_svg(plot);
  CHECK_THAT(svg, Catch::StartsWith("<svg xmlns=\"http://www.w3.org/2000/svg\""));
  CHECK_THAT(svg, Contains("prefers-color-scheme: dark") && Contains("a &lt;plot&gt;"));
  CHECK(count(svg, "<circle") == 3);
  CHECK(count(svg, "orange line others") == 2);  // in the plot and in the legend
  CHECK(count(svg, "unseen") == 0);
  CHECK_THAT(svg, Contains("nothing was measured"));
  CHECK(count(svg, "nan") == 0);
  CHECK(count(svg, "inf") == 0);
  // y from 0: half the rate is half the height.
  const auto y_of = [&](const std::string& label) {
    const auto title = svg.find("<title>" + label);
    REQUIRE(title < svg.size());
    const auto at = svg.rfind("cy=\"", title);
    return std::stod(svg.substr(at + 4));
  };
  CHECK(y_of("theirs: 50") - y_of("ours: 100") ==
        Approx((y_of("ours: 100") - y_of("ours: 200")) / 2).margin(0.2));
}

TEST_CASE("bars are as long as their figures, by powers of ten where asked for") {
  Plot plot{.title = "bars", .y_name = "seconds"};
  plot.bar_series = {{"ours", Tint::kBlue}, {"theirs", Tint::kOrange, true}};
  plot.groups = {{"first", {{0, 1}, {1, 100}}}, {"second", {{0, 10}}}, {"third", {}}};
  const auto widths = [](const std::string& svg) {
    std::vector<double> found;
    for (auto at = svg.find("<rect class=\""); at < svg.size();
         at = svg.find("<rect class=\"", at + 1)) {
      const std::string shape = svg.substr(at, svg.find('>', at) - at + 8);
      const bool is_bar = shape.find(" bar") < shape.size() && shape.find("<title>") < shape.size();
      if (!is_bar) continue;  // the ground, the legend
      found.push_back(std::stod(svg.substr(svg.find("width=\"", at) + 7)));
    }
    return found;
  };
  const auto linear = widths(plot_svg(plot));
  REQUIRE(linear.size() == 3);
  CHECK(linear[1] / linear[2] == Approx(10).epsilon(0.01));
  plot.logarithmic_y = true;
  const auto logarithmic = widths(plot_svg(plot));
  REQUIRE(logarithmic.size() == 3);
  CHECK(logarithmic[1] - logarithmic[2] == Approx(logarithmic[2] - logarithmic[0]).epsilon(0.01));
  CHECK_THAT(plot_svg(plot), Contains("third") && Contains("seconds, logarithmic"));
}

}  // namespace
}  // namespace heddle
