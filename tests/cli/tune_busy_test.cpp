// A GPU that others use is not measured on: on the fake GPU, with a fake NVML that tells of them.
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include <catch2/catch.hpp>

#include "tests/cli/fake_gpu_tuning.hpp"

namespace heddle {
namespace {

using Catch::Contains;
using Clock = std::chrono::steady_clock;

/// A machine whose NVML says this.
struct Machine {
  explicit Machine(const std::string& nvml) {
    heddle.environment()["HEDDLE_NVML"] = HEDDLE_FAKE_NVML_PATH;
    heddle.environment()["HEDDLE_FAKE_NVML"] = heddle.write("nvml", nvml);
  }
  std::string rows() const { return heddle.run({"db", "export", "--all"}).output; }
  HeddleProcess heddle;
};

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

const std::string kBusy = "busy 97\nprocess " + std::to_string(::getpid()) + " 21474836480\n";

TEST_CASE("A GPU that another process keeps busy is refused, and nothing is stored") {
  const Machine machine(kBusy);
  const auto start = Clock::now();
  const auto result = machine.heddle.run(small_tuning());
  INFO(result.output << result.errors);
  CHECK(result.code == 3);
  CHECK(seconds_since(start) < 10);
  CHECK_THAT(result.errors, Contains("GPU 0 (Fake H200) is kept busy by another process (97 %") &&
                                Contains(std::to_string(::getpid()) + " (") &&
                                Contains("20.0 GiB)") && Contains("--wait"));
  CHECK_THAT(machine.rows(), !Contains("variant"));
}

TEST_CASE("Processes that only hold memory do not matter, nor does a moment's work") {
  const Machine machine("busy 80 0 4\nprocess 4242 21474836480\n");
  const auto result = machine.heddle.run(small_tuning());
  INFO(result.output << result.errors);
  CHECK(result.code == 0);
  CHECK_THAT(result.errors, !Contains("busy"));
  CHECK_THAT(machine.rows(), Contains("chosen: true"));
}

TEST_CASE("With --wait it waits until the GPU is idle, and says so") {
  const Machine machine(kBusy);
  const pid_t child = machine.heddle.start(small_tuning({"--wait", "--budget", "30"}));
  std::this_thread::sleep_for(std::chrono::seconds(4));
  CHECK(::kill(child, 0) == 0);
  const HeddleProcess observer;
  CHECK_THAT(observer
                 .run({"db", "export", "--all", "--results",
                       machine.heddle.path(".local/share/heddle/results.db")})
                 .output,
             !Contains("variant"));
  machine.heddle.write("nvml", "busy 3\n");
  const auto result = machine.heddle.wait(child);
  INFO(result.output << result.errors);
  CHECK(result.code == 0);
  CHECK_THAT(result.errors, Contains("note: GPU 0 (Fake H200) is kept busy") &&
                                Contains("waiting until it is idle"));
  CHECK_THAT(machine.rows(), Contains("chosen: true"));
}

TEST_CASE("Ctrl-C ends the waiting") {
  const Machine machine(kBusy);
  const pid_t child = machine.heddle.start(small_tuning({"--wait"}));
  std::this_thread::sleep_for(std::chrono::seconds(1));
  ::kill(child, SIGINT);
  const auto start = Clock::now();
  CHECK(machine.heddle.wait(child).code == 130);
  CHECK(seconds_since(start) < 2);
  CHECK_THAT(machine.rows(), !Contains("variant"));
}

TEST_CASE("--ignore-busy measures all the same, and says what that is worth") {
  const Machine machine(kBusy);
  const auto result = machine.heddle.run(small_tuning({"--ignore-busy"}));
  INFO(result.output << result.errors);
  CHECK(result.code == 0);
  CHECK_THAT(result.errors, Contains("not to be trusted"));
  CHECK(machine.heddle.run(small_tuning({"--ignore-busy", "--wait"})).code == 2);
}

TEST_CASE("Where nobody can tell whether the GPU is busy it is told, and tuned") {
  Machine machine("unsupported\n");
  const auto unsupported = machine.heddle.run(small_tuning());
  CHECK(unsupported.code == 0);
  CHECK_THAT(unsupported.errors, Contains("cannot be told here (nvmlDeviceGetUtilizationRates: "
                                          "Not Supported)"));
  machine.heddle.environment()["HEDDLE_NVML"] = "/nowhere/libnvidia-ml.so.1";
  const auto missing = machine.heddle.run(small_tuning());
  CHECK(missing.code == 0);
  CHECK_THAT(missing.errors, Contains("no NVML: '/nowhere/libnvidia-ml.so.1'"));
}

TEST_CASE("A GPU that becomes busy between two problems ends the work with what is done") {
  const Machine machine("");
  const std::string file = machine.heddle.write(
      "two.yaml", "heddle_workload: 1\nproblems: [{head_dim: 64, heads: 2, seqlen_q: [64, 96]}]\n");
  std::vector<std::string> words{"tune",       "--workload", file,      "--samples", "5",
                                 "--families", "fa2",        "--limit", "3"};
  words.insert(words.end(), kFakeMachine.begin(), kFakeMachine.end());
  // The first look is the command's own, to see whether there is anything to ask.
  machine.heddle.write("nvml", "busy 0 0 0 97 97 97 97 97 97 97 97\n");
  const auto result = machine.heddle.run(words);
  INFO(result.output << result.errors);
  CHECK(result.code == 3);
  CHECK_THAT(result.output, Contains("seqlen_q=64") && !Contains("seqlen_q=96"));
  CHECK_THAT(result.errors, Contains("kept busy") && Contains("stored in"));
  CHECK_THAT(machine.rows(), Contains("chosen: true"));
}

TEST_CASE("Predicting needs no GPU and asks nobody") {
  const Machine machine(kBusy);
  const auto result = machine.heddle.run(small_tuning({"--arch", "sm_90a"}));
  CHECK(result.code == 0);
  CHECK_THAT(result.errors, !Contains("busy"));
}

}  // namespace
}  // namespace heddle
