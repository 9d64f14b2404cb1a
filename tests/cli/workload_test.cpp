// Workload files, the shipped one among them, and a tuning that goes through one.
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <thread>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "cli/workload_file.hpp"
#include "generator/candidates.hpp"
#include "tests/cli/fake_gpu_tuning.hpp"
#include "tuner/model_config.hpp"

namespace heddle {
namespace {

using Catch::Contains;
using nlohmann::json;

std::string text_of(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::string entries(const std::string& lines) {
  return "heddle_workload: 1\nproblems:\n" + lines;
}

TEST_CASE("Lists of values are problems, the first field's changing slowest") {
  const auto problems = parse_workload(
      entries("  - {name: a, head_dim: [64, 128], tokens: 4096, seqlen_q: [1024, 4096]}\n"
              "  - {seqlen_q: 1, seqlen_kv: 100, mask: causal}\n"),
      "w.yaml");
  REQUIRE(problems.size() == 5);
  CHECK(problems[0].name == "a head_dim=64 seqlen_q=1024");
  CHECK(problems[1].name == "a head_dim=64 seqlen_q=4096");
  CHECK(problems[2].problem.variant.head_dim == 128);
  CHECK(problems[2].problem.sizes.batch == 4);
  CHECK(problems[2].problem.sizes.seqlen_kv == 1024);
  CHECK(problems[4].problem.sizes.seqlen_kv == 100);
  CHECK(problems[4].problem.variant.mask == MaskKind::kCausal);
}

TEST_CASE("What is wrong in a workload is told with file, line, field and remedy") {
  struct Case {
    std::string text;
    std::string place;
    std::string words;
  };
  const auto wrong = GENERATE(values<Case>(
      {{entries("  - {head_dim: [64, 100]}\n"), "w.yaml:3: head_dim", "multiple of 8"},
       {entries("  - {head_dim: 64}\n  - {headdim: 64}\n"), "w.yaml:4: headdim", "known fields"},
       {entries("  - {mask: round}\n"), "w.yaml:3: mask", "full, causal"},
       {entries("  - {mask: []}\n"), "w.yaml:3: mask", "give one or more"},
       {entries("  - {mask: }\n"), "w.yaml:3: mask", "no value"},
       {entries("  - {seqlen_q: 1000, tokens: 4096}\n"), "w.yaml:3: tokens", "multiple"},
       {entries("  - {seqlen_q: 1024, tokens: 4096, batch: 2}\n"), "w.yaml:3: tokens", "no batch"},
       {entries("  - {tokens: many}\n"), "w.yaml:3: tokens", "'many'"},
       {entries("  - {batch: [1, 1]}\n"), "w.yaml:3: problems", "remove one"},
       {entries("  - 7\n"), "w.yaml:3: problems", "map"},
       {"heddle_workload: 2\nproblems: [{batch: 1}]\n", "w.yaml:1: heddle_workload", "reads 1"},
       {"problems: [{batch: 1}]\n", "w.yaml:1: heddle_workload", "begin with"},
       {"heddle_workload: 1\n", "w.yaml:1: problems", "list"},
       {"heddle_workload: 1\nproblem: 3\n", "w.yaml:2: problem", "known ones"},
       {"heddle_workload: [1\n", "w.yaml:", "correct the YAML"}}));
  INFO(wrong.text);
  try {
    parse_workload(wrong.text, "w.yaml");
    FAIL("accepted");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::kInvalidArgument);
    CHECK_THAT(error.what(), Contains(wrong.place) && Contains(wrong.words));
  }
}

TEST_CASE("The shipped workload holds what it is for, and every problem has a kernel") {
  const auto problems = parse_workload(text_of(HEDDLE_WORKLOADS "/h200.yaml"), "h200.yaml");
  CHECK(problems.size() <= 80);
  const DeviceLimits limits = find_architecture("sm_90a");
  std::set<int> dims, prefill_lengths, decode_batches;
  std::set<DataType> types;
  std::set<std::pair<int, int>> heads;  // query heads and KV heads
  std::set<MaskKind> masks;
  for (const NamedProblem& named : problems) {
    INFO(named.name);
    const Sizes& sizes = named.problem.sizes;
    CHECK_FALSE(rank_candidates(named.problem, limits).empty());
    dims.insert(named.problem.variant.head_dim);
    types.insert(named.problem.variant.dtype);
    masks.insert(named.problem.variant.mask);
    heads.insert({sizes.heads, sizes.resolved_kv_heads()});
    if (sizes.seqlen_q == 1) decode_batches.insert(sizes.batch);
    if (sizes.seqlen_q > 1) prefill_lengths.insert(sizes.seqlen_q);
  }
  CHECK(dims == std::set<int>{64, 96, 128, 256});
  CHECK(types == std::set<DataType>{DataType::kFp16, DataType::kBf16, DataType::kE4m3});
  CHECK(masks.size() == 2);
  for (int length = 512; length <= 32768; length *= 2) CHECK(prefill_lengths.count(length) == 1);
  CHECK(decode_batches.size() >= 4);
  // The groups of the example models, decoding not counted twice.
  std::set<int> groups;
  for (const auto& [queries, keys] : heads) groups.insert(queries / keys);
  for (const auto& file : std::filesystem::directory_iterator(HEDDLE_EXAMPLE_MODELS)) {
    const ModelAttention model = read_model_config(file.path().string());
    INFO(model.name);
    const bool softcapped = model.softcap > 0;  // no kernel for it yet
    CHECK((softcapped || groups.count(model.heads / model.kv_heads) == 1));
  }
}

std::vector<std::string> workload_tuning(const HeddleProcess& heddle,
                                         const std::vector<std::string>& more = {}) {
  const std::string file =
      heddle.write("small.yaml",
                   entries("  - {name: small, head_dim: 64, heads: 2, seqlen_q: [64, 96, 128]}\n"));
  std::vector<std::string> words{"tune",       "--workload", file,      "--samples", "5",
                                 "--families", "fa2",        "--limit", "4",         "--json"};
  words.insert(words.end(), kFakeMachine.begin(), kFakeMachine.end());
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

json run_workload(const HeddleProcess& heddle, const std::vector<std::string>& more = {}) {
  const auto result = heddle.run(workload_tuning(heddle, more));
  INFO(result.output << result.errors);
  REQUIRE(result.code == 0);
  return json::parse(result.output);
}

TEST_CASE("One command tunes a workload, and once more leaves it as it is") {
  const HeddleProcess heddle;
  const json first = run_workload(heddle);
  REQUIRE(first.size() == 3);
  for (const json& report : first) {
    CHECK(report["finished"] == true);
    CHECK(report["earlier"] == false);
    CHECK(report["measured"] == 4);
  }
  const std::string rows = heddle.run({"db", "export", "--all"}).output;
  const json again = run_workload(heddle);
  REQUIRE(again.size() == 3);
  for (int i = 0; i < 3; ++i) {
    CHECK(again[i]["earlier"] == true);
    CHECK(again[i]["measured"] == 0);
    CHECK(again[i]["winner"]["config"] == first[i]["winner"]["config"]);
    CHECK(again[i]["winner"]["seconds"] == first[i]["winner"]["seconds"]);
    CHECK(again[i]["default"]["seconds"] == first[i]["default"]["seconds"]);
  }
  CHECK(heddle.run({"db", "export", "--all"}).output == rows);
  for (const json& report : run_workload(heddle, {"--fresh"})) CHECK(report["measured"] == 4);
  // Another search is another command.
  for (const json& report : run_workload(heddle, {"--warm"})) CHECK(report["earlier"] == false);
  auto words = workload_tuning(heddle);
  words.erase(std::find(words.begin(), words.end(), "--json"));
  CHECK_THAT(heddle.run(words).output, Contains("tuned to its end by an earlier run"));
}

TEST_CASE("A workload that was killed goes on with what is left") {
  const HeddleProcess heddle;
  const pid_t child = heddle.start(workload_tuning(heddle));
  HeddleProcess observer;
  const auto start = std::chrono::steady_clock::now();
  const std::string results = heddle.path(".local/share/heddle/results.db");
  while (observer.run({"db", "export", "--results", results}).output.find("chosen: true") ==
             std::string::npos &&
         std::chrono::steady_clock::now() - start < std::chrono::seconds(60)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  ::kill(child, SIGKILL);
  heddle.wait(child);
  const json rest = run_workload(heddle);
  REQUIRE(rest.size() == 3);
  CHECK(rest[0]["earlier"] == true);
  for (const json& report : rest) CHECK(report["finished"] == true);
  for (const json& report : run_workload(heddle)) CHECK(report["earlier"] == true);
}

TEST_CASE("A workload file says alone which problems") {
  const HeddleProcess heddle;
  const auto both = heddle.run(workload_tuning(heddle, {"--heads", "3"}));
  CHECK(both.code == 2);
  CHECK_THAT(both.errors, Contains("--workload") && Contains("leave --model"));
  auto words = workload_tuning(heddle);
  words[2] = heddle.path("nowhere.yaml");
  const auto none = heddle.run(words);
  CHECK(none.code == 2);
  CHECK_THAT(none.errors, Contains("nowhere.yaml"));
}

}  // namespace
}  // namespace heddle
