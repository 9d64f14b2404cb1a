// A tuning that is stopped, by Ctrl-C or for good, keeps what it knows and leaves nobody behind.
#include <dirent.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <thread>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/cli/fake_gpu_tuning.hpp"

namespace heddle {
namespace {

using Catch::Contains;
using Clock = std::chrono::steady_clock;
using nlohmann::json;
namespace fs = std::filesystem;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Processes with this home folder in their environment: heddle's and its workers.
int processes_of(const HeddleProcess& heddle) {
  const std::string home = "HOME=" + heddle.path("");
  int count = 0;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    std::stringstream text;
    text << std::ifstream(entry.path() / "environ", std::ios::binary).rdbuf();
    count += text.str().find(home.substr(0, home.size() - 1)) < text.str().size() ? 1 : 0;
  }
  return count;
}

/// Whether the last of them is gone within a moment.
bool all_gone(const HeddleProcess& heddle) {
  const auto start = Clock::now();
  while (processes_of(heddle) > 0 && seconds_since(start) < 5) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return processes_of(heddle) == 0;
}

/// Waits until this many rows are stored.
void wait_for_rows(const HeddleProcess& heddle, int count) {
  const auto start = Clock::now();
  HeddleProcess observer;
  while (seconds_since(start) < 60) {
    const auto rows = observer.run(
        {"db", "list", "--all", "--results", heddle.path(".local/share/heddle/results.db")});
    if (std::count(rows.output.begin(), rows.output.end(), '\n') > count) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  FAIL("no rows in a minute");
}

std::vector<std::string> longer_tuning(const std::vector<std::string>& more = {}) {
  auto words = small_tuning(more);
  *(std::find(words.begin(), words.end(), "--limit") + 1) = "40";
  return words;
}

TEST_CASE("C70 Ctrl-C ends it soon, finished candidates are kept and not measured again") {
  const HeddleProcess heddle;
  const pid_t child = heddle.start(longer_tuning({"--add-bad", "infinite_loop"}));
  wait_for_rows(heddle, 1);
  ::kill(child, SIGINT);
  const auto start = Clock::now();
  const auto stopped = heddle.wait(child);
  INFO(stopped.output << stopped.errors);
  CHECK(stopped.code == 130);
  CHECK(seconds_since(start) < 2);
  CHECK(all_gone(heddle));
  CHECK_THAT(stopped.output, Contains("not finished: the best so far"));
  CHECK_THAT(heddle.run({"db", "export", "--all"}).output, !Contains("chosen: true"));

  const auto again = heddle.run(longer_tuning({"--json"}));
  INFO(again.output << again.errors);
  REQUIRE(again.code == 0);
  const auto report = json::parse(again.output)[0];
  CHECK(report["finished"] == true);
  CHECK_THAT(heddle.run({"db", "export", "--all"}).output, Contains("chosen: true"));
  // A third run knows all but the default, which the others are relative to.
  const auto third = json::parse(heddle.run(longer_tuning({"--json"})).output)[0];
  CHECK(third["known"] == 39);
  CHECK(third["measured"] == 1);
  CHECK(third["winner"]["config"] == report["winner"]["config"]);
  CHECK(json::parse(heddle.run(longer_tuning({"--json", "--fresh"})).output)[0]["known"] == 0);
}

TEST_CASE("C02 a worker stuck in a kernel ends with its tuner") {
  const HeddleProcess heddle;
  const pid_t child = heddle.start(
      longer_tuning({"--add-bad", "infinite_loop", "--only-bad", "--candidate-seconds", "100"}));
  const auto start = Clock::now();
  while (processes_of(heddle) < 3 && seconds_since(start) < 20) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  ::kill(child, SIGKILL);
  CHECK(heddle.wait(child).code == 128 + SIGKILL);
  CHECK(all_gone(heddle));
}

/// $HEDDLE_KILL_ROUNDS, else a hundred.
int kill_rounds() {
  const char* text = std::getenv("HEDDLE_KILL_ROUNDS");
  return text == nullptr ? 100 : std::atoi(text);
}

TEST_CASE("C64 C70 killed at random moments: databases are sound, and a resumed run finishes") {
  const unsigned seed = static_cast<unsigned>(std::time(nullptr));
  INFO("seed " << seed);
  std::mt19937 engine(seed);
  const HeddleProcess heddle;
  const auto whole = Clock::now();
  {
    const HeddleProcess other;
    REQUIRE(other.run(small_tuning()).code == 0);
  }
  const int usual_ms = static_cast<int>(1000 * seconds_since(whole));
  int killed = 0;
  for (int round = 0; round < kill_rounds(); ++round) {
    INFO("round " << round);
    const pid_t child =
        heddle.start(small_tuning({"--fresh", "--seed", std::to_string(round + 1)}));
    std::this_thread::sleep_for(
        std::chrono::milliseconds(engine() % static_cast<unsigned>(usual_ms)));
    ::kill(child, SIGKILL);
    killed += heddle.wait(child).code == 128 + SIGKILL ? 1 : 0;
    const auto check = heddle.run({"db", "check"});
    INFO(check.output << check.errors);
    REQUIRE(check.code == 0);
  }
  CHECK(killed > kill_rounds() / 4);
  CHECK(all_gone(heddle));
  const auto resumed = heddle.run(small_tuning({"--json"}));
  INFO(resumed.output << resumed.errors);
  REQUIRE(resumed.code == 0);
  const auto report = json::parse(resumed.output)[0];
  CHECK(report["finished"] == true);
  CHECK_THAT(resumed.errors, !Contains("warning"));
}

}  // namespace
}  // namespace heddle
