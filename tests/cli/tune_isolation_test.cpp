// Candidates that hang, crash or lie cost the tuner a worker and no more.
#include <algorithm>
#include <chrono>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/cli/fake_gpu_tuning.hpp"

namespace heddle {
namespace {

using Catch::Contains;
using Clock = std::chrono::steady_clock;
using nlohmann::json;

const std::vector<std::string> kShortLimits{"--candidate-seconds", "15", "--compile-seconds", "2"};

std::vector<std::string> with_bad(const std::string& kinds, std::vector<std::string> more = {}) {
  more.insert(more.end(), {"--add-bad", kinds});
  more.insert(more.end(), kShortLimits.begin(), kShortLimits.end());
  return small_tuning(more);
}

/// What a tuner that is right says of each kind.
const std::vector<std::pair<std::string, std::string>> kReasons{
    {"never_writes", "wrong result"},
    {"skips_last_tile", "wrong result"},
    {"writes_past_end", "guard band"},
    {"illegal_address", "faulted: CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory access"},
    {"trap", "faulted: CUDA_ERROR_LAUNCH_FAILED"},
    {"infinite_loop", "timed out: no answer within 15 s"},
    {"wrong_lse", "wrong result: "},
    {"too_much_shared", "of shared memory"},
    {"compiles_for_minutes", "compile time-out: not done after 2 s of processor time"},
    {"ends_process", "its worker process exited with code 7"}};

/// The same limit, by the clock: where others leave a compiler less than a tenth of a core.
bool is_starved_compile(const std::string& kind, const std::string& failure) {
  return kind == "compiles_for_minutes" &&
         failure.find("compile time-out: no answer within 20 s") != std::string::npos;
}

int rows_with(const HeddleProcess& heddle, const std::string& text) {
  const auto exported = heddle.run({"db", "export", "--all"});
  int count = 0;
  for (std::size_t at = exported.output.find(text); at < exported.output.size();
       at = exported.output.find(text, at + 1)) {
    ++count;
  }
  return count;
}

TEST_CASE("C01 C02 C06 C86 every bad candidate is out for the right reason, and a good one wins") {
  const HeddleProcess heddle;
  const auto start = Clock::now();
  const auto result = heddle.run(with_bad("all", {"--json"}));
  INFO(result.output << result.errors);
  REQUIRE(result.code == 0);
  const auto report = json::parse(result.output)[0];
  REQUIRE(report.contains("winner"));
  CHECK(report["winner"]["check"]["passed"] == true);
  CHECK(report["measured"] == 5);
  CHECK(report["failures"].size() == kReasons.size());
  for (const auto& [kind, reason] : kReasons) {
    int told = 0;
    for (const std::string failure : report["failures"]) {
      if (failure.find("bad candidate " + kind + ":") == std::string::npos) continue;
      ++told;
      if (!is_starved_compile(kind, failure)) CHECK_THAT(failure, Contains(reason));
    }
    INFO(kind);
    CHECK(told == 1);
  }
  // Six kinds take their worker along; compiling has others.
  CHECK(report["lost_workers"] == 5);
  CHECK(std::chrono::duration<double>(Clock::now() - start).count() < 120);
  CHECK(rows_with(heddle, "evidence: failed") == static_cast<int>(kReasons.size()));
  CHECK(rows_with(heddle, "chosen: true") == 1);
}

TEST_CASE("C24 where all candidates are bad the code is 1, and no result is stored") {
  const HeddleProcess heddle;
  const auto result = heddle.run(with_bad("never_writes,trap,too_much_shared", {"--only-bad"}));
  INFO(result.output << result.errors);
  CHECK(result.code == 1);
  CHECK_THAT(result.output, Contains("no valid configuration") && Contains("wrong result") &&
                                Contains("CUDA_ERROR_LAUNCH_FAILED") &&
                                Contains("of shared memory"));
  CHECK(rows_with(heddle, "evidence: failed") == 3);
  CHECK(rows_with(heddle, "evidence: measured") == 0);
  // The fault is not the good candidates': a later run tunes.
  CHECK(heddle.run(small_tuning()).code == 0);
}

TEST_CASE("C47 a problem larger than the device's memory is told, and leaves no row") {
  const HeddleProcess heddle;
  auto words = small_tuning({"--batch", "64", "--kv-heads", "2", "--candidate-seconds", "100"});
  *(std::find(words.begin(), words.end(), "--seqlen-q") + 1) = "1";
  *(std::find(words.begin(), words.end(), "--seqlen-kv") + 1) = "65536";  // K and V: 2 GiB of 1
  const auto result = heddle.run(words);
  INFO(result.output << result.errors);
  CHECK(result.code == 3);
  CHECK_THAT(result.errors, Contains("device memory") && Contains("use a smaller problem"));
  CHECK(rows_with(heddle, "evidence:") == 0);
}

TEST_CASE("Without a worker it tunes in this process, and says so") {
  const HeddleProcess heddle;
  const auto result = heddle.run(small_tuning({"--worker", "none", "--json"}));
  INFO(result.output << result.errors);
  REQUIRE(result.code == 0);
  CHECK_THAT(result.errors, Contains("candidates run in this process"));
  CHECK(json::parse(result.output)[0]["measured"] == 5);
}

TEST_CASE("In this process a fault ends the search, and what was measured stands") {
  const HeddleProcess heddle;
  const auto result = heddle.run(with_bad("illegal_address", {"--worker", "none", "--json"}));
  INFO(result.output << result.errors);
  REQUIRE(result.code == 0);
  const auto report = json::parse(result.output)[0];
  CHECK(report["finished"] == false);
  CHECK_THAT(report["failures"][0].get<std::string>(), Contains("CUDA_ERROR_ILLEGAL_ADDRESS"));
  CHECK(report["failures"].size() == 1);
  CHECK(rows_with(heddle, "chosen: true") == 0);
}

TEST_CASE("A worker that is none is told by name") {
  const HeddleProcess heddle;
  const auto wrong = heddle.run(small_tuning({"--worker", "/bin/false"}));
  CHECK(wrong.code == 3);
  CHECK_THAT(wrong.errors, Contains("'/bin/false'") && Contains("exited with code 1") &&
                               Contains("--worker") && Contains("HEDDLE_TUNE_WORKER"));
  const auto missing = heddle.run(small_tuning({"--worker", heddle.path("nowhere")}));
  CHECK(missing.code == 3);
  CHECK_THAT(missing.errors, Contains("No such file") && Contains("nowhere"));
}

TEST_CASE("A budget ends the search with the best so far") {
  const HeddleProcess heddle;
  const auto words =
      small_tuning({"--budget", "3", "--json", "--add-bad", "infinite_loop,compiles_for_minutes",
                    "--candidate-seconds", "60", "--compile-seconds", "60"});
  const auto start = Clock::now();
  const auto result = heddle.run(words);
  INFO(result.output << result.errors);
  REQUIRE(result.code == 0);
  const auto report = json::parse(result.output)[0];
  CHECK(report["finished"] == true);
  CHECK(report.contains("winner"));
  // The hanging candidate, which may take longer than that, was given up without a verdict.
  CHECK(std::chrono::duration<double>(Clock::now() - start).count() < 3 + 2);
  CHECK(rows_with(heddle, "evidence: failed") == 0);
}

}  // namespace
}  // namespace heddle
