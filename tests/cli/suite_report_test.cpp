// A suite's table, CSV, JSON and plot, and CSV files read.
#include <algorithm>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "cli/suites/csv_table.hpp"
#include "cli/suites/plot_sheet.hpp"
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
  CHECK_THAT(complaint("a,b\n1\n", "a"),
             Contains("rows.csv line 2 has 1 fields") && Contains("names 2"));
  CHECK_THAT(complaint("a,b\n1,2\n", "c"), Contains("no column 'c'; it has: a, b"));
  CHECK_THAT(complaint("a\nfast\n", "a"),
             Contains("rows.csv line 2, column 'a': 'fast' is no number above 0; mend"));
  CHECK_THAT(complaint("a\n0\n", "a"), Contains("'0'"));
  CHECK_THAT(complaint("a\ninf\n", "a"), Contains("'inf'"));
  // A quoted line end and an empty line count as lines.
  CHECK_THAT(complaint("a,b\n\nx,\"1\n2\"\n", "a"), Contains("rows.csv line 3, column 'a': 'x'"));
  CHECK_THAT(complaint("b,a\n\"1\n2\"\n", "a"), Contains("rows.csv line 2 has 1 fields"));
  CHECK_THAT(complaint("", "a"), Contains("rows.csv is empty"));
  CHECK(parse_csv("a,\"b\nc\"\n\nd") == std::vector<CsvRow>{{"a", "b\nc"}, {"d"}});
}

TEST_CASE("figures may be missing, and some may be 0") {
  const CsvTable table("share,count\n0,3\n,2.5\n-1,1\n", "rows.csv");
  CHECK(table.figure_or_zero(0, "share") == 0.0);
  CHECK(table.figure_or_zero(1, "share") == std::nullopt);
  CHECK(table.figure(1, "share") == std::nullopt);
  CHECK_THROWS_WITH(table.figure(0, "share"), Contains("line 2") && Contains("'0'"));
  CHECK_THROWS_WITH(table.figure_or_zero(2, "share"), Contains("line 4") && Contains("from 0"));
  CHECK(table.whole(0, "count") == 3);
  CHECK_THROWS_WITH(table.whole(1, "count"), Contains("'2.5' is no whole number"));
  CHECK(table.has("share"));
  CHECK_FALSE(table.has("rate"));
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
  CHECK(count(svg, "class=\"blue mark\"") == 3);           // two points and the legend
  CHECK(count(svg, "class=\"orange mark others\"") == 2);  // one point and the legend
  CHECK(count(svg, "orange line others") == 2);            // in the plot and in the legend
  CHECK(count(svg, "unseen") == 0);
  CHECK_THAT(svg, Contains("nothing was measured"));
  CHECK(count(svg, "nan") == 0);
  CHECK(count(svg, "inf") == 0);
  // y from 0: half the rate is half the height.
  const auto y_of = [&](const std::string& label) {
    const auto title = svg.find("<title>" + label);
    REQUIRE(title < svg.size());
    const std::string place = "translate(";
    const auto blank = svg.find(' ', svg.rfind(place, title));
    return std::stod(svg.substr(blank + 1));
  };
  CHECK(y_of("theirs: 50") - y_of("ours: 100") ==
        Approx((y_of("ours: 100") - y_of("ours: 200")) / 2).margin(0.2));
}

/// The numbers that follow `before` in shapes that have `title`s beginning so.
std::vector<double> numbers(const std::string& svg, const std::string& shape,
                            const std::string& before) {
  std::vector<double> found;
  for (auto at = svg.find(shape); at < svg.size(); at = svg.find(shape, at + 1)) {
    const std::string element = svg.substr(at, svg.find('\n', at) - at);
    if (element.find("<title>") == std::string::npos) continue;  // the legend
    found.push_back(std::stod(element.substr(element.find(before) + before.size())));
  }
  return found;
}

TEST_CASE("bars are as long as their figures, marks on a scale where it has powers of ten") {
  Plot plot{.title = "bars", .about = {"of a shape"}, .y_name = "seconds"};
  plot.bar_series = {{"ours", Tint::kBlue}, {"theirs", Tint::kOrange, true}};
  plot.groups = {{"first", {{0, 1}, {1, 100}}}, {"second", {{0, 10}}}, {"third", {}}};
  const std::string linear = plot_svg(plot);
  const auto widths = numbers(linear, "<rect class=\"", "width=\"");
  REQUIRE(widths.size() == 3);
  CHECK(widths[1] / widths[2] == Approx(10).epsilon(0.01));
  CHECK(count(linear, ">ours</text>") == 2);  // each bar has its name
  CHECK(count(linear, ">theirs</text>") == 1);
  CHECK_THAT(linear, Contains("third") && Contains("not measured") && Contains("of a shape"));
  plot.logarithmic_y = true;
  const std::string logarithmic = plot_svg(plot);
  const auto places = numbers(logarithmic, " mark", "translate(");
  REQUIRE(places.size() == 3);
  CHECK(places[1] - places[2] == Approx(places[2] - places[0]).margin(0.2));
  CHECK(numbers(logarithmic, "<rect class=\"", "width=\"").empty());  // a bar has no foot there
  CHECK_THAT(logarithmic, Contains("seconds, logarithmic"));
  plot.groups[1].bars = {{0, 0}};  // at the foot
  CHECK_THAT(plot_svg(plot), !Contains("nan") && !Contains("inf"));
}

/// Where the names at the ends of lines stand, from above.
std::vector<double> label_heights(const std::string& svg) {
  std::vector<double> heights;
  for (auto at = svg.find(" end\" text-anchor"); at < svg.size();
       at = svg.find(" end\" text-anchor", at + 1)) {
    const auto y = svg.rfind(" y=\"", at);
    heights.push_back(std::stod(svg.substr(y + 4)));
  }
  std::sort(heights.begin(), heights.end());
  return heights;
}

TEST_CASE("names at the ends of lines do not touch, and none is said twice or over other lines") {
  Plot plot{.title = "names", .x_name = "x", .y_name = "y"};
  const std::vector<std::pair<double, double>> same{{1, 5}, {2, 5}};
  plot.panels = {{"crowded",
                  {{"one", Tint::kBlue, false, same},
                   {"two", Tint::kGreen, false, same},
                   {"three", Tint::kOrange, false, same},
                   {"one, modelled", Tint::kBlue, true, same, "one"},
                   {"short", Tint::kGrey, false, {{1, 5}}}}}};
  const std::string svg = plot_svg(plot);
  const auto heights = label_heights(svg);
  REQUIRE(heights.size() == 3);
  for (std::size_t i = 1; i < heights.size(); ++i) CHECK(heights[i] - heights[i - 1] >= 14.9);
  CHECK(count(svg, ">short</text>") == 1);  // in the legend
}

TEST_CASE("long lines are cut at blanks") {
  CHECK(wrapped("one two three", 7) == std::vector<std::string>{"one two", "three"});
  CHECK(wrapped("abcdefghij", 4) == std::vector<std::string>{"abcd", "efgh", "ij"});
  CHECK(wrapped("", 4).empty());
}

}  // namespace
}  // namespace heddle
