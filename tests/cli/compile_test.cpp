// The command with a real NVRTC and no GPU: compile, tune as prediction, the database's round trip.
#include <filesystem>
#include <iterator>
#include <regex>
#include <sstream>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/cli/heddle_process.hpp"
#include "tests/runtime/real_nvrtc.hpp"

namespace heddle {
namespace {

using Catch::Contains;
using nlohmann::json;

const std::string kModels = HEDDLE_EXAMPLE_MODELS;

json run_json(const HeddleProcess& heddle, const std::vector<std::string>& arguments) {
  const auto result = heddle.run(arguments);
  INFO(result.output << result.errors);
  REQUIRE(result.code == 0);
  return json::parse(result.output);
}

TEST_CASE("The second compile comes from the cache; an empty PATH hinders neither (C92)") {
  real_nvrtc_or_skip();
  HeddleProcess heddle;
  heddle.environment()["PATH"] = "";
  const std::vector<std::string> command{"compile",    "--arch", "sm_80",
                                         "--head-dim", "64",     "--json"};
  CHECK(run_json(heddle, command)[0]["from_cache"] == false);
  CHECK(std::filesystem::exists(heddle.path(".cache/heddle/cubins.db")));
  CHECK(run_json(heddle, command)[0]["from_cache"] == true);
}

TEST_CASE("Where no cache can be written the command warns and compiles") {
  real_nvrtc_or_skip();
  HeddleProcess heddle;
  heddle.environment()["HEDDLE_CACHE"] = "/proc/nowhere/cubins.db";
  const auto result = heddle.run({"compile", "--arch", "sm_80", "--head-dim", "64"});
  INFO(result.errors);
  CHECK(result.code == 0);
  CHECK_THAT(result.output, Contains("fa2_attention"));
  CHECK_THAT(result.errors, Contains("warning") && Contains("/proc/nowhere"));
}

std::vector<std::string> tune_command(const std::string& model) {
  return {"tune",
          "--arch",
          "sm_90a",
          "--limit",
          "2",
          "--model",
          kModels + "/" + model,
          "--phase",
          "prefill",
          "--seqlens",
          "1024",
          "--ignore",
          "softcap,window"};
}

TEST_CASE("Every example model is tuned as a prediction where there is no GPU") {
  real_nvrtc_or_skip();
  HeddleProcess heddle;
  int models = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kModels)) {
    const std::string name = entry.path().filename().string();
    if (entry.path().extension() != ".json") continue;
    auto command = tune_command(name);
    command.push_back("--json");
    const auto reports = run_json(heddle, command);
    INFO(name << " " << reports.dump(1));
    REQUIRE(reports.size() == 1);
    CHECK(reports[0]["evidence"] == "predicted");
    CHECK(reports[0]["legal"].get<int>() >= 60);
    CHECK(reports[0]["compiled"].get<int>() >= 1);
    CHECK(reports[0]["checked"] == 0);
    CHECK(reports[0]["measured"] == 0);
    CHECK(reports[0]["winner"]["seconds"].get<double>() > 0);
    ++models;
  }
  CHECK(models >= 5);
}

TEST_CASE("A predicted table is stored as predicted, and a second run compiles nothing") {
  real_nvrtc_or_skip();
  HeddleProcess heddle;
  const auto command = tune_command("llama-3-8b.json");
  const auto first = heddle.run(command);
  INFO(first.output << first.errors);
  CHECK(first.code == 0);
  CHECK_THAT(first.output, Contains("PREDICTED by the cost model, no kernel was run"));
  for (const std::string word : {"problem", "legal", "compiled", "checked", "measured", "winner",
                                 "TFLOP/s", "vs default", "Meta-Llama-3-8B prefill b1 s1024"}) {
    CHECK_THAT(first.output, Contains(word));
  }
  const auto rows = heddle.run({"db", "list"});
  CHECK(rows.code == 0);
  CHECK_THAT(rows.output, Contains("predicted") && !Contains("measured"));
  const auto second = heddle.run(command);
  CHECK(second.code == 0);
  CHECK(second.output == first.output);
  CHECK(second.processor_seconds < 0.5 * first.processor_seconds);
}

TEST_CASE("explain and compile name the config that was just tuned, and say the same why") {
  real_nvrtc_or_skip();
  const HeddleProcess heddle;
  // No size that the shipped entries know, so that the prediction answers or the default does.
  std::vector<std::string> problem{"--arch", "sm_90a",     "--head-dim", "72",     "--heads",
                                   "8",      "--seqlen-q", "512",        "--mask", "causal"};
  const auto with = [&](std::vector<std::string> words, const std::vector<std::string>& more) {
    words.insert(words.end(), problem.begin(), problem.end());
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  const auto before = run_json(heddle, with({"explain", "--json"}, {}));
  CHECK(before["match"] == "default");
  CHECK(run_json(heddle, with({"compile", "--json"}, {}))[0]["config"] == before["config"]);
  const auto tuned = run_json(heddle, with({"tune", "--json"}, {"--limit", "3"}));
  const auto after = run_json(heddle, with({"explain", "--json"}, {}));
  CHECK(after["match"] == "predicted");
  CHECK(after["config"] == tuned[0]["winner"]["config"]);
  CHECK(run_json(heddle, with({"compile", "--json"}, {}))[0]["config"] == after["config"]);
  const auto text = heddle.run(with({"compile"}, {}));
  CHECK_THAT(text.output, Contains(after["why"].get<std::string>()));
  const auto forced = run_json(heddle, with({"compile", "--json"}, {"--family", "fa1"}));
  CHECK_THAT(forced[0]["config"].get<std::string>(), Contains("family=fa1"));
}

TEST_CASE("Output that goes to no terminal, and NO_COLOR, have no escape codes") {
  real_nvrtc_or_skip();
  HeddleProcess heddle;
  for (const std::string no_color : {"", "1"}) {
    heddle.environment()["NO_COLOR"] = no_color;
    heddle.environment()["TERM"] = "xterm-256color";
    const auto command = tune_command("gpt2.json");
    const auto result = heddle.run(command);
    CHECK(result.code == 0);
    CHECK_THAT(result.output + result.errors, !Contains("\x1b") && !Contains("\r"));
    CHECK_THAT(result.errors, Contains("compiling 2/2"));
  }
}

/// An export's rows without the times at which they were made.
std::string timeless_rows(const std::string& yaml) {
  const std::string rows = yaml.substr(yaml.find("entries:\n") + 9);
  return std::regex_replace(rows, std::regex("      when: [^\n]*\n"), "");
}

TEST_CASE("A stored row names the command that repeats it") {
  real_nvrtc_or_skip();
  HeddleProcess heddle;
  REQUIRE(heddle.run(tune_command("llama-3-8b.json")).code == 0);
  const auto all = heddle.run({"db", "export"});
  REQUIRE(all.code == 0);
  std::smatch found;
  REQUIRE(std::regex_search(all.output, found, std::regex("command: \"heddle ([^\"]+)\"")));
  std::istringstream words(found[1].str());
  const std::vector<std::string> again{std::istream_iterator<std::string>(words), {}};
  INFO(found[1]);
  HeddleProcess fresh;
  REQUIRE(fresh.run(again).code == 0);
  const auto repeated = fresh.run({"db", "export"});
  REQUIRE(repeated.code == 0);
  REQUIRE_THAT(repeated.output, Contains("command:"));
  CHECK_THAT(timeless_rows(all.output), Contains(timeless_rows(repeated.output)));
}

TEST_CASE("What one database exports another imports and exports again") {
  real_nvrtc_or_skip();
  HeddleProcess heddle;
  REQUIRE(heddle.run(tune_command("gpt2.json")).code == 0);
  const auto exported = heddle.run({"db", "export", "--all"});
  REQUIRE(exported.code == 0);
  CHECK_THAT(exported.output, Contains("evidence: predicted") && Contains("tile_m"));
  REQUIRE(heddle.run({"db", "export", "--all", heddle.path("rows.yaml")}).code == 0);
  CHECK(heddle.read("rows.yaml") == exported.output);

  const std::string other = heddle.path("other.db");
  const auto imported = heddle.run({"db", "import", heddle.path("rows.yaml"), "--results", other});
  INFO(imported.errors);
  CHECK(imported.code == 0);
  CHECK_THAT(imported.errors, Contains("imported"));
  CHECK(heddle.run({"db", "export", "--all", "--results", other}).output == exported.output);
  heddle.environment()["HEDDLE_DB"] = other;
  CHECK(heddle.run({"db", "export", "--all"}).output == exported.output);
  const auto shown = heddle.run({"db", "show"});
  CHECK(shown.code == 0);
  CHECK_THAT(shown.output, Contains("predicted"));
}

}  // namespace
}  // namespace heddle
