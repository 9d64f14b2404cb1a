// scripts/gpu_run exhaustive, as it runs on a GPU machine, on the fake one.
#include <algorithm>
#include <filesystem>
#include <regex>

#include <catch2/catch.hpp>

#include "tests/cli/gpu_machine.hpp"

namespace heddle {
namespace {

using Catch::Contains;
namespace fs = std::filesystem;

/// 0 where the step does not say.
int measured_of_852(const std::string& printed) {
  std::smatch found;
  if (!std::regex_search(printed, found, std::regex("left out, ([0-9]+) of 852 legal"))) return 0;
  return std::stoi(found[1]);
}

TEST_CASE("gpu_run exhaustive measures every legal config, and goes on where it was interrupted") {
  GpuMachine machine;
  machine.home().write(
      "problems",
      "large | fa2 | head_dim: 64, heads: 2, seqlen_q: 96, seqlen_kv: 96\n" + kTinyProblems);
  // How long it takes to begin with is the machine's affair: a little longer each time, until the
  // interruption finds more measured than the default, which is measured again in any case. The 852
  // take far longer than a step of that.
  for (int seconds = 2; measured_of_852(machine.printed) < 2; seconds += 2) {
    REQUIRE(seconds <= 60);
    const int code = machine.run(
        "exhaustive", "EXHAUSTIVE_LEAST=1 EXHAUSTIVE_SECONDS=" + std::to_string(seconds));
    INFO(machine.printed);
    REQUIRE(code == 0);  // an interruption is no failure
    REQUIRE_THAT(machine.printed,
                 Contains("large: interrupted") && Contains("tiny-full: not begun"));
  }
  CHECK(measured_of_852(machine.printed) < 852);
  CHECK_THAT(machine.printed, Contains("0 problems written"));
  machine.move_to_next_machine("exhaustive.db.gz");
  REQUIRE(machine.run("exhaustive", "EXHAUSTIVE_SECONDS=1000") == 0);
  INFO(machine.printed);
  CHECK_THAT(machine.printed, Contains("large: 852 legal configs") &&
                                  Contains("tiny-full: 136 legal configs, 136 compiled") &&
                                  Contains("3 problems written"));
  CHECK_THAT(machine.left("exhaustive.log"), Contains("known from earlier runs"));
  CHECK_THAT(machine.left("exhaustive.recording"),
             Contains("legal 852\n") && Contains("legal 136\n") && !Contains("failed"));
  CHECK_THAT(machine.left("exhaustive.txt"), Contains("3 problems; mean of the predicted best"));
}

/// Of the database that is taken to the next machine.
int kept_rows(const GpuMachine& machine) {
  const std::string path = machine.home().path("kept.db");
  const std::string command = "gunzip -c '" + machine.home().path("out/exhaustive.db.gz") + "' > '";
  REQUIRE(std::system((command + path + "'").c_str()) == 0);
  const auto rows = machine.home().run({"db", "list", "--all", "--results", path});
  REQUIRE(rows.code == 0);
  return static_cast<int>(std::count(rows.output.begin(), rows.output.end(), '\n')) - 1;
}

TEST_CASE("gpu_run exhaustive keeps what a killed tuner has stored, and fails") {
  GpuMachine machine;
  // Its rows are in the write-ahead log then, and the file beside it has none.
  machine.replace_command(R"END(
[ "$1" = tune ] || exec "$REAL" "$@"
results=$(sed 's/.*--results \(.*\.db\).*/\1/' <<<"$*")
"$REAL" "$@" &
tuner=$!
while kill -0 "$tuner" && [ "$("$REAL" db list --all --results "$results" | wc -l)" -le 10 ]; do sleep 0.05; done
kill -9 "$tuner"
wait "$tuner"
)END");
  const int code = machine.run("exhaustive", "EXHAUSTIVE_PROBLEMS=tiny-full");
  INFO(machine.printed << machine.left("exhaustive.log"));
  CHECK(code == 1);
  CHECK_THAT(machine.printed, Contains("tiny-full: exit code 137"));
  CHECK(kept_rows(machine) >= 10);
}

TEST_CASE("gpu_run exhaustive fails where what it leaves cannot be written, and says so") {
  GpuMachine machine;
  machine.set("EXHAUSTIVE_PROBLEMS", "tiny-decode");
  fs::create_directories(machine.home().path("out/exhaustive.recording"));
  fs::create_directories(machine.home().path("out/exhaustive.db.gz"));
  const int code = machine.run("exhaustive");
  INFO(machine.printed);
  CHECK(code == 1);
  CHECK_THAT(machine.printed, Contains("tiny-decode: 136 legal configs") &&
                                  Contains("exhaustive.db.gz: not written: ") &&
                                  Contains("exhaustive.recording: exit code "));
  // With room for both it is known what was measured.
  fs::remove(machine.home().path("out/exhaustive.db.gz"));
  CHECK(machine.run("exhaustive") == 1);
  CHECK_THAT(machine.printed, !Contains("not written") && Contains("exhaustive.recording: exit "));
  fs::remove(machine.home().path("out/exhaustive.recording"));
  CHECK(machine.run("exhaustive") == 0);
  CHECK(kept_rows(machine) >= 136);
}

TEST_CASE("gpu_run exhaustive fails where all is measured and yet nothing is whole") {
  GpuMachine machine;
  const int code =
      machine.run("exhaustive", "EXHAUSTIVE_PROBLEMS=tiny-full EXHAUSTIVE_FLAGS='--limit 3'");
  INFO(machine.printed);
  CHECK(code == 1);
  CHECK_THAT(machine.printed, Contains("left out, 3 of 136 legal configs") &&
                                  Contains("exhaustive.recording: exit code 1"));
}

}  // namespace
}  // namespace heddle
