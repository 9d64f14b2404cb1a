// The steps of scripts/gpu_run about the tuner, as they run on a GPU machine, on the fake one.
#include <filesystem>

#include <catch2/catch.hpp>

#include "tests/cli/gpu_machine.hpp"

namespace heddle {
namespace {

using Catch::Contains;
namespace fs = std::filesystem;

TEST_CASE("gpu_run regret races what a budget finds beside the exhaustive optimum") {
  GpuMachine machine;
  CHECK(machine.run("regret") == 1);
  CHECK_THAT(machine.printed, Contains("tiny-full: left out, its optimum is not known"));
  REQUIRE(machine.run("exhaustive", "EXHAUSTIVE_PROBLEMS=tiny-full") == 0);
  CHECK_THAT(machine.printed, !Contains("tiny-decode"));
  CHECK(machine.run("regret") == 0);
  CHECK_THAT(machine.printed, Contains("the same config") && Contains("regret over 1 problems") &&
                                  Contains("tiny-decode: left out"));
  REQUIRE(machine.run("exhaustive") == 0);
  const int code = machine.run("regret agree", "AGREE_PROBLEMS='tiny-full tiny-decode'");
  INFO(machine.printed);
  CHECK(code == 0);
  CHECK_THAT(machine.printed, Contains("regret over 2 problems: mean 0.00 %, worst 0.00 %") &&
                                  Contains("two tunings: 0 differ by more than the noise"));
  machine.move_to_next_machine("regret.txt");  // nothing is left to do
  CHECK(machine.run("regret") == 0);
  CHECK_THAT(machine.printed, Contains("regret over 2 problems"));
}

TEST_CASE("gpu_run regret fails where the winner is slower than allowed") {
  GpuMachine machine;
  REQUIRE(machine.run("exhaustive", "EXHAUSTIVE_PROBLEMS=tiny-full") == 0);
  // Of two candidates neither is the best of 136.
  const int code = machine.run("regret", "REGRET_PROBLEMS=tiny-full REGRET_FLAGS='--limit 2'");
  INFO(machine.printed);
  CHECK(code == 1);
  CHECK_THAT(machine.printed, Contains("beyond the noise") && Contains("regret over 1 problems"));
}

TEST_CASE("gpu_run regret takes recordings where there is no database") {
  GpuMachine machine;
  REQUIRE(machine.run("exhaustive", "EXHAUSTIVE_PROBLEMS=tiny-full") == 0);
  machine.move_to_next_machine("exhaustive.recording");
  machine.home().write("another.recording", "heddle_recordings 1\n");  // which comes first
  const int code = machine.run("regret");
  INFO(machine.printed);
  CHECK(code == 0);
  CHECK_THAT(machine.printed, Contains("tiny-full") && Contains("the same config") &&
                                  Contains("tiny-decode: left out, no recording has it") &&
                                  Contains("regret over 1 problems"));
}

TEST_CASE("gpu_run bad_candidates says of each kind whether it was told") {
  GpuMachine machine;
  machine.set("BAD_PROBLEM",
              "--head-dim 64 --heads 2 --seqlen-q 96 --seqlen-kv 96 --samples 5 --families fa2");
  const int code =
      machine.run("bad_candidates", "BAD_LIMITS='--candidate-seconds 10 --compile-seconds 2'");
  INFO(machine.printed);
  CHECK(code == 0);
  CHECK_THAT(machine.printed, Contains("OK      beside good ones: infinite_loop") &&
                                  Contains("OK      beside good ones: one of them wins") &&
                                  Contains("OK      all bad: compiles_for_minutes") &&
                                  Contains("OK      all bad: nothing stored") &&
                                  !Contains("FAILED  "));
  // A reason that is not the right one is told: none gets as far as a result in a microsecond.
  CHECK(machine.run("bad_candidates",
                    "BAD_LIMITS='--candidate-seconds 0.000001 --compile-seconds 2'") == 1);
  CHECK_THAT(machine.printed, Contains("FAILED  beside good ones: never_writes") &&
                                  Contains("FAILED  beside good ones: one of them wins") &&
                                  Contains("OK      all bad: infinite_loop"));
}

TEST_CASE("gpu_run workload goes on, and says what tuning is worth") {
  GpuMachine machine;
  machine.home().write("list.yaml",
                       "heddle_workload: 1\nproblems:\n"
                       "  - {name: a, head_dim: 64, heads: 1, seqlen_q: [40, 500]}\n");
  machine.set("WORKLOAD", machine.home().path("list.yaml"));
  machine.set("WORKLOAD_FLAGS", "--families fa2 --limit 3");
  REQUIRE(machine.run("workload") == 0);
  CHECK_THAT(machine.printed, Contains("2 winners: ") && Contains("geometric mean"));
  fs::copy_file(machine.home().path("out/workload.yaml"), machine.home().path("results.yaml"));
  machine.move_to_next_machine("workload.yaml");
  REQUIRE(machine.run("workload") == 0);
  INFO(machine.printed);
  CHECK_THAT(machine.printed, Contains("a seqlen_q=40: tuned to its end by an earlier run") &&
                                  Contains("a seqlen_q=500: tuned to its end"));
}

TEST_CASE("C05 gpu_run cold: 16 processes compile each of two kernels once, 50 rounds") {
  GpuMachine machine;
  const int code = machine.run(
      "cold",
      "COLD_ROUNDS=50 COLD_FLAGS='--arch sm_90a --nvrtc " HEDDLE_FAKE_NVRTC_FOLDER "/13_loadable'");
  INFO(machine.printed << machine.left("cold.log"));
  CHECK(code == 0);
  CHECK_THAT(machine.printed, Contains("50 rounds of 16 processes and 2 kernels: at most 2 "
                                       "compiled, 0 rounds failed"));
}

}  // namespace
}  // namespace heddle
