// A fleet's way, on the fake GPU: parts, merge, the last race, shipping; also by the scripts that
// docs/fleet.md shows.
#include <cstdlib>
#include <filesystem>
#include <regex>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/cli/fake_gpu_tuning.hpp"

namespace heddle {
namespace {

using Catch::Contains;
using nlohmann::json;

ProcessResult run_well(const HeddleProcess& heddle, const std::vector<std::string>& words) {
  const auto result = heddle.run(words);
  INFO(words[0] << ' ' << words[1] << '\n' << result.output << result.errors);
  REQUIRE(result.code == 0);
  return result;
}

TEST_CASE("Parts of one problem, merged, are a whole: only the last race is left") {
  const HeddleProcess heddle;
  for (const std::string part : {"1", "2", "3"}) {
    const auto result = run_well(
        heddle, small_tuning({"--shard", part + "/3", "--results", heddle.path(part + ".db")}));
    CHECK_THAT(heddle.run({"db", "export", "--all", "--results", heddle.path(part + ".db")}).output,
               !Contains("chosen: true"));
  }
  const std::string all = heddle.path("all.db");
  const auto merged = run_well(heddle, {"db", "merge", "--results", all, heddle.path("1.db"),
                                        heddle.path("2.db"), heddle.path("3.db")});
  CHECK_THAT(merged.output, Contains("1.db: ") && Contains(" new"));
  const auto again = run_well(heddle, {"db", "merge", "--results", all, heddle.path("2.db")});
  CHECK_THAT(again.output, Contains(", 0 new"));

  const auto last = run_well(heddle, small_tuning({"--results", all, "--json"}));
  const auto report = json::parse(last.output)[0];
  CHECK(report["known"] == 4);
  CHECK(report["measured"] == 1);
  CHECK_THAT(heddle.run({"db", "export", "--results", all}).output, Contains("chosen: true"));
  // The same winner as without parts.
  const HeddleProcess alone;
  const auto whole = json::parse(run_well(alone, small_tuning({"--json"})).output)[0];
  CHECK(whole["winner"]["config"] == report["winner"]["config"]);
  CHECK(heddle.run({"db", "check", "--results", all}).code == 0);
}

TEST_CASE("Export, import and export again are the same bytes, failures and choices included") {
  const HeddleProcess heddle;
  run_well(heddle, small_tuning({"--add-bad", "never_writes,trap"}));
  const auto first = run_well(heddle, {"db", "export", "--all"}).output;
  CHECK_THAT(first,
             Contains("chosen: true") && Contains("evidence: failed") && Contains("timings: \""));
  heddle.write("rows.yaml", first);
  const std::string other = heddle.path("other.db");
  run_well(heddle, {"db", "import", "--results", other, heddle.path("rows.yaml")});
  CHECK(run_well(heddle, {"db", "export", "--all", "--results", other}).output == first);
  const std::string third = heddle.path("third.db");
  run_well(heddle, {"db", "merge", "--results", third, heddle.path("rows.yaml"), other});
  CHECK(run_well(heddle, {"db", "export", "--all", "--results", third}).output == first);
}

TEST_CASE("merge tells conflicts and what it cannot read; prune keeps the answer") {
  const HeddleProcess heddle;
  run_well(heddle, small_tuning());
  const auto rows = run_well(heddle, {"db", "export"}).output;
  // Another machine of the same kind, later, chose another config.
  auto other =
      std::regex_replace(rows, std::regex("      when: \"20[0-9]{2}"), "      when: \"2099");
  other = std::regex_replace(other, std::regex("(    config:[^\n]*\n)"),
                             "$1      longest_first: false\n");
  other = std::regex_replace(other, std::regex("config: \\{\\}"), "config:");
  heddle.write("other.yaml", other);
  const auto merged = run_well(heddle, {"db", "merge", heddle.path("other.yaml")});
  INFO(merged.output);
  CHECK_THAT(merged.output, Contains("conflict with ") && Contains("other.yaml") &&
                                Contains("longest_first=false (2099") && Contains(") over "));
  const auto winners = run_well(heddle, {"db", "export"}).output;
  CHECK_THAT(run_well(heddle, {"db", "prune"}).output, Contains("removed "));
  CHECK(run_well(heddle, {"db", "export"}).output == winners);

  heddle.write("broken.db", "this is no database, whatever its name says");
  const auto broken = heddle.run({"db", "merge", heddle.path("broken.db")});
  CHECK(broken.code == 2);
  CHECK_THAT(broken.errors, Contains("broken.db"));
  CHECK(heddle.read("broken.db") == "this is no database, whatever its name says");
  CHECK(heddle.run({"db", "merge", heddle.path("nowhere.db")}).code == 2);
}

TEST_CASE("A measurement by another version is a hint, and measured again") {
  const HeddleProcess heddle;
  const auto first = json::parse(run_well(heddle, small_tuning({"--json"})).output)[0];
  auto rows = run_well(heddle, {"db", "export", "--all"}).output;
  const std::string from =
      GENERATE("heddle_version: \"", "driver_version: \"", "nvrtc_version: \"");
  rows = std::regex_replace(rows, std::regex(from), from + "9");
  heddle.write("other.yaml", rows);
  const std::string results = heddle.path("fresh.db");
  run_well(heddle, {"db", "import", "--results", results, heddle.path("other.yaml")});
  const auto again =
      json::parse(run_well(heddle, small_tuning({"--json", "--results", results})).output)[0];
  CHECK(again["known"] == 0);
  CHECK(again["measured"] == 5);
  CHECK(again["winner"]["config"] == first["winner"]["config"]);
}

std::string quoted_words(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += " '" + word + "'";
  return text;
}

TEST_CASE("The Slurm array of docs/fleet.md, dry: eight tasks, one of them twice, and the join") {
  const HeddleProcess heddle;
  auto arguments = small_tuning();
  arguments.erase(arguments.begin());  // "tune"
  const std::string environment = "HOME='" + heddle.path("") + "' TMPDIR='" + heddle.path("") +
                                  "' HEDDLE='" HEDDLE_COMMAND "' HEDDLE_FLEET='" +
                                  heddle.path("fleet") + "' ";
  const std::string log = " >> '" + heddle.path("log") + "' 2>&1";
  const auto shell = [&](const std::string& command) {
    const int code = std::system((environment + command + quoted_words(arguments) + log).c_str());
    INFO(command << '\n' << heddle.read("log"));
    CHECK(code == 0);
  };
  const std::string task = "SLURM_ARRAY_TASK_COUNT=8 SLURM_ARRAY_TASK_ID=";
  for (const std::string part : {"1", "2", "3", "4", "5", "6", "7", "8", "2"}) {
    shell(task + part + " " HEDDLE_FLEET_EXAMPLE "/tune_array.sbatch");
  }
  CHECK_THAT(heddle.read("log"), Contains("known from earlier runs"));
  shell(HEDDLE_FLEET_EXAMPLE "/join");
  const std::string winners = heddle.read("fleet/winners.yaml");
  CHECK_THAT(winners, Contains("chosen: true") && Contains("Fake H200"));
  CHECK_THAT(heddle.read("log"), Contains("noise floor"));
  run_well(heddle, {"db", "import", heddle.path("fleet/winners.yaml")});
}

}  // namespace
}  // namespace heddle
