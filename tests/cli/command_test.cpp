// Help, plain output, missing pieces of the machine and the database, seen from the shell.
#include <sstream>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/cli/heddle_process.hpp"

namespace heddle {
namespace {

using Catch::Contains;

const std::vector<std::string> kVerbs{"emit",  "compile", "verify", "run",    "tune",
                                      "bench", "explain", "db",     "devices"};

TEST_CASE("Every verb explains itself") {
  const HeddleProcess heddle;
  const auto overview = heddle.run({"--help"});
  CHECK(overview.code == 0);
  for (const std::string& verb : kVerbs) {
    CHECK_THAT(overview.output, Contains("  " + verb + " "));
    const auto help = heddle.run({verb, "--help"});
    INFO(verb);
    CHECK(help.code == 0);
    CHECK(help.errors.empty());
    CHECK_THAT(help.output, Contains("Usage:") && Contains(" " + verb + " ") && Contains("--help"));
  }
  for (const std::string action :
       {"list", "show", "export", "import", "merge", "prune", "check", "report"}) {
    const auto help = heddle.run({"db", action, "--help"});
    CHECK(help.code == 0);
    CHECK_THAT(help.output, Contains("Usage:") && Contains("--results"));
  }
  const auto version = heddle.run({"--version"});
  CHECK(version.code == 0);
  CHECK(version.output == "heddle " HEDDLE_PROJECT_VERSION "\n");
}

TEST_CASE("Where there is no driver the code is 3 and the message says what to install") {
  const HeddleProcess heddle;
  for (const std::string verb : {"verify", "bench", "tune"}) {
    const auto result = heddle.run({verb, "--driver", heddle.path("libcuda.so.1")});
    INFO(verb);
    CHECK(result.code == 3);
    CHECK_THAT(result.errors, Contains("no CUDA driver") && Contains("libcuda.so.1") &&
                                  Contains("install the NVIDIA driver"));
  }
  const auto suite =
      heddle.run({"bench", "--suite", "fa3-pipeline", "--driver", heddle.path("libcuda.so.1")});
  CHECK(suite.code == 3);
  CHECK_THAT(suite.errors, Contains("install the NVIDIA driver"));
}

TEST_CASE("A suite of bench brings its own problem") {
  const HeddleProcess heddle;
  const auto result = heddle.run({"bench", "--suite", "fa3-pipeline", "--head-dim", "64"});
  CHECK(result.code == 2);
  CHECK_THAT(result.errors, Contains("--suite fa3-pipeline"));
  CHECK(heddle.run({"bench", "--suite", "fa4"}).code == 2);
}

TEST_CASE("Where there is no NVRTC the code is 3 and the message says what to install") {
  HeddleProcess heddle;
  heddle.environment()["HEDDLE_NVRTC"] = heddle.path("");
  const std::vector<std::vector<std::string>> commands{
      {"compile", "--arch", "sm_90a"},
      {"compile", "--arch", "sm_90a", "--ptx"},
      {"compile", "--arch", "sm_90a", "--nvrtc", heddle.path("nowhere")},
      {"tune", "--arch", "sm_90a", "--limit", "1"}};
  for (const auto& command : commands) {
    const auto result = heddle.run(command);
    INFO(command[0] << " " << command.back() << "\n" << result.output << result.errors);
    CHECK(result.code == 3);
    CHECK_THAT(result.errors, Contains("no usable NVRTC") && Contains("HEDDLE_NVRTC") &&
                                  Contains("nvidia-cuda-nvrtc"));
  }
}

TEST_CASE("devices says what is there, and what is missing, with code 0") {
  HeddleProcess heddle;
  heddle.environment()["HEDDLE_NVRTC"] = heddle.path("");
  const auto missing = heddle.run({"devices", "--driver", heddle.path("none.so"), "--json"});
  CHECK(missing.code == 0);
  const auto json = nlohmann::json::parse(missing.output);
  CHECK_THAT(json["driver"]["missing"].get<std::string>(), Contains("install the NVIDIA driver"));
  CHECK_THAT(json["nvrtc"]["missing"].get<std::string>(), Contains("nvidia-cuda-nvrtc"));
  CHECK(json["results"] == heddle.path(".local/share/heddle/results.db"));
  CHECK(json["cubins"] == heddle.path(".cache/heddle/cubins.db"));
  const auto required =
      heddle.run({"devices", "--driver", heddle.path("none.so"), "--require-gpu"});
  CHECK(required.code == 3);

  const auto found = heddle.run({"devices", "--driver", HEDDLE_FAKE_CUDA_PATH, "--json"});
  CHECK(found.code == 0);
  const auto driver = nlohmann::json::parse(found.output)["driver"];
  CHECK(driver["version"] == "13.0");
  REQUIRE(driver["gpus"].size() == 1);
  CHECK(driver["gpus"][0]["name"] == "Fake H200");
  CHECK(driver["gpus"][0]["architecture"] == "sm_90a");
  CHECK(driver["gpus"][0]["sm_count"] == 132);
  CHECK(driver["gpus"][0]["shared_bytes_per_block"] == 232448);
  const auto text = heddle.run({"devices", "--driver", HEDDLE_FAKE_CUDA_PATH, "--require-gpu"});
  CHECK(text.code == 0);
  CHECK_THAT(text.output, Contains("GPU 0: Fake H200, sm_90a, 132 SMs"));
}

TEST_CASE("C92 an empty environment and an empty PATH are enough") {
  for (const bool with_path : {false, true}) {
    HeddleProcess heddle;
    heddle.environment().clear();
    if (with_path) heddle.environment()["PATH"] = "";
    const auto emitted = heddle.run({"emit", "--arch", "sm_90a", "--mask", "causal"});
    INFO(emitted.errors);
    CHECK(emitted.code == 0);
    CHECK_THAT(emitted.output, Contains("heddle_fa3_attention"));
    const auto older = heddle.run({"emit", "--arch", "sm_80", "--mask", "causal"});
    CHECK_THAT(older.output, Contains("heddle_fa2_attention"));
    CHECK(heddle.run({"devices"}).code == 0);
    // Not into the database of who runs this test.
    heddle.environment()["HEDDLE_DB"] = heddle.path("results.db");
    CHECK(heddle.run({"explain", "--arch", "sm_90a"}).code == 0);
  }
}

TEST_CASE("explain says what a mean of 8-bit values costs") {
  HeddleProcess heddle;
  const auto result = heddle.run({"explain", "--arch", "sm_90a", "--dtype", "e4m3", "--heads", "16",
                                  "--seqlen-q", "16384", "--seqlen-kv", "16384"});
  CHECK(result.code == 0);
  CHECK_THAT(result.output, Contains("family=fa3"));
  CHECK_THAT(result.output, Contains("about 18 % is lost at seqlen_kv=16384"));
  CHECK_THAT(result.output, Contains("value_mean"));
  CHECK_THAT(heddle.run({"explain", "--arch", "sm_90a"}).output, !Contains("accuracy"));
}

TEST_CASE("explain tells kernel, launch and what bounds it without a GPU") {
  const HeddleProcess heddle;
  const auto result = heddle.run(
      {"explain", "--arch", "sm_90a", "--heads", "32", "--seqlen-q", "4096", "--mask", "causal"});
  CHECK(result.code == 0);
  CHECK_THAT(result.output, !Contains("assumed"));
  const auto unnamed = heddle.run({"explain", "--driver", heddle.path("none/libcuda.so.1")});
  CHECK_THAT(unnamed.output, Contains("sm_90a (assumed: no GPU here"));
  CHECK_THAT(result.output, Contains("family=fa3") && Contains("blocks of") &&
                                Contains("shared memory") && Contains("FLOP") &&
                                Contains("lowest ceiling: "));
  for (const char* bound : {"tensor", "exp", "issue", "shared memory", "L2", "HBM", "launch"}) {
    CHECK_THAT(result.output, Contains(std::string("\n  ") + bound));
  }
}

TEST_CASE("emit repeats itself exactly, and the command in its banner gives it again") {
  const HeddleProcess heddle;
  const auto first = heddle.run({"emit", "--arch", "sm_80", "--head-dim", "80", "--family", "fa1"});
  REQUIRE(first.code == 0);
  const std::string mark = "// again:   heddle ";
  const auto start = first.output.find(mark) + mark.size();
  std::istringstream words(first.output.substr(start, first.output.find('\n', start) - start));
  std::vector<std::string> again;
  for (std::string word; words >> word;) again.push_back(word);
  CHECK(heddle.run(again).output == first.output);
}

TEST_CASE("An import that is wrong names the line and stores nothing") {
  const HeddleProcess heddle;
  const auto wrong = heddle.write("wrong.yaml",
                                  "heddle_results: 1\n"
                                  "entries:\n"
                                  "  - variant: {}\n"
                                  "    config:\n"
                                  "      tile_mm: 16\n");
  const auto result = heddle.run({"db", "import", wrong});
  CHECK(result.code == 2);
  CHECK_THAT(result.errors, Contains("wrong.yaml:5:") && Contains("tile_mm"));
  CHECK(heddle.run({"db", "import", heddle.path("absent.yaml")}).code == 2);
}

}  // namespace
}  // namespace heddle
