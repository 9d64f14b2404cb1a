// The steps of scripts/gpu_run about the tuner, as they run on a GPU machine, on the fake one.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include <catch2/catch.hpp>

#include "tests/cli/fake_gpu_tuning.hpp"

namespace heddle {
namespace {

using Catch::Contains;
namespace fs = std::filesystem;

const std::string kTiny =
    "tiny-full | fa2 | head_dim: 256, heads: 1, seqlen_q: 48, seqlen_kv: 40\n"
    "tiny-decode | fa2 | head_dim: 256, heads: 2, kv_heads: 1, seqlen_q: 1, seqlen_kv: 70\n";

/// The folder that gpu_package makes, and one for what a step leaves.
class GpuMachine {
 public:
  GpuMachine() {
    fs::create_symlink(HEDDLE_COMMAND, home_.path("heddle"));
    const auto beside = fs::path(HEDDLE_COMMAND).parent_path();
    fs::create_symlink(beside / "heddle_tune_worker", home_.path("heddle_tune_worker"));
    for (const std::string name :
         {"gpu_run", "gpu_evidence_steps", "gpu_tuner_steps", "gpu_safety_steps"}) {
      fs::copy_file(fs::path(HEDDLE_SCRIPTS) / name, home_.path(name));
    }
    home_.write("problems", kTiny);
    set("HOME", home_.path(""));
    set("TUNER_WORK", home_.path("work"));
    set("OUT", home_.path("out"));
    set("HEDDLE_CACHE", home_.path("cubins.db"));
    set("TUNER_PROBLEMS", home_.path("problems"));
    set("RACE_SAMPLES", "9");
    set("MACHINE_FLAGS",
        "--driver " HEDDLE_FAKE_GPU_PATH " --nvrtc " HEDDLE_FAKE_NVRTC_FOLDER "/13_loadable");
  }

  void set(const std::string& name, const std::string& value) {
    environment_ += name + "='" + value + "' ";
  }

  /// The exit code; what it printed is in `printed`.
  int run(const std::string& steps, const std::string& more = "") {
    const int status = std::system((environment_ + more + " '" + home_.path("gpu_run") + "' " +
                                    steps + " > '" + home_.path("printed") + "' 2>&1")
                                       .c_str());
    printed = home_.read("printed");
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  std::string left(const std::string& name) const { return home_.read("out/" + name); }
  /// What is left of one machine is beside gpu_run on the next.
  void move_to_next_machine(const std::string& name) {
    fs::copy_file(home_.path("out/" + name), home_.path(name),
                  fs::copy_options::overwrite_existing);
    fs::remove_all(home_.path("work"));
    fs::remove_all(home_.path("out"));
    fs::remove(home_.path("cubins.db"));
  }
  const HeddleProcess& home() const { return home_; }

  std::string printed;

 private:
  HeddleProcess home_;
  std::string environment_;
};

TEST_CASE("gpu_run exhaustive measures every legal config, and goes on where it was interrupted") {
  GpuMachine machine;
  machine.home().write(
      "problems", "large | fa2 | head_dim: 64, heads: 2, seqlen_q: 96, seqlen_kv: 96\n" + kTiny);
  const int first = machine.run("exhaustive", "EXHAUSTIVE_LEAST=1 EXHAUSTIVE_SECONDS=2");
  INFO(machine.printed);
  CHECK(first == 0);  // an interruption is no failure
  CHECK_THAT(machine.printed, Contains("large: interrupted") && Contains("tiny-full: not begun") &&
                                  Contains("left out, ") && Contains(" of 852 legal"));
  machine.move_to_next_machine("exhaustive.db.gz");
  REQUIRE(machine.run("exhaustive", "EXHAUSTIVE_SECONDS=200") == 0);
  INFO(machine.printed);
  CHECK_THAT(machine.printed, Contains("large: 852 legal configs") &&
                                  Contains("tiny-full: 136 legal configs, 136 compiled") &&
                                  Contains("3 problems written"));
  CHECK_THAT(machine.left("exhaustive.log"), Contains("known from earlier runs"));
  CHECK_THAT(machine.left("exhaustive.recording"),
             Contains("legal 852\n") && Contains("legal 136\n") && !Contains("failed"));
  CHECK_THAT(machine.left("exhaustive.txt"), Contains("3 problems; mean of the predicted best"));
}

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
