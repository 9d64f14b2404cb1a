// The steps of scripts/gpu_run for docs/evidence.md, on the fake driver: which files they leave,
// what they say is to be copied, and that one suite's failure costs no other. Times are the fake's.
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>

#include <catch2/catch.hpp>

#include "tests/cli/heddle_process.hpp"

namespace heddle {
namespace {

using Catch::Contains;
namespace fs = std::filesystem;

constexpr const char* kFakeFlags =
    "--driver " HEDDLE_FAKE_CUDA_PATH " --nvrtc " HEDDLE_FAKE_NVRTC_FOLDER "/13_loadable";

/// What gpu_package gathers, as far as these steps need it.
class Folder {
 public:
  Folder() {
    fs::create_symlink(HEDDLE_COMMAND, home_.path("heddle"));
    for (const auto& file : fs::directory_iterator(HEDDLE_SCRIPTS)) {
      const std::string name = file.path().filename();
      if (name.rfind("gpu_", 0) == 0) fs::copy_file(file.path(), home_.path(name));
    }
    fs::create_directory_symlink(HEDDLE_BENCH, home_.path("bench"));
  }

  int run(const std::string& steps, const std::string& settings) {
    const std::string folder = home_.path("");
    const int status = std::system(("cd '" + folder + "' && HOME='" + folder + "' OUT='" + folder +
                                    "/out' TUNER_WORK='" + folder + "/work' HEDDLE_CACHE='" +
                                    folder + "/cubins.db' MACHINE_FLAGS='" + kFakeFlags + "' " +
                                    settings + " ./gpu_run " + steps + " > printed 2>&1")
                                       .c_str());
    printed = home_.read("printed");
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  /// A profiler that tells for each kernel what `line` says.
  void add_profiler(const std::string& line) {
    const std::string script =
        home_.write("ncu",
                    "#!/bin/sh\n[ \"$1\" != --version ] || { echo 'Version 1.2'; exit; }\n"
                    "while [ \"$1\" != --launch-count ]; do shift; done\n"
                    "i=0; while [ $i -lt $2 ]; do " +
                        line + "; i=$((i + 1)); done\n");
    REQUIRE(::chmod(script.c_str(), 0700) == 0);
  }
  std::string with_profiler() const { return "PATH='" + home_.path("") + "':$PATH "; }
  std::string left(const std::string& name) const { return home_.read("out/" + name); }

  std::string printed;

 private:
  HeddleProcess home_;
};

TEST_CASE("gpu_run suites leaves a section of the document for each suite, and says which") {
  Folder folder;
  const int code =
      folder.run("suites", "SUITES='decode fa3-pipeline lengths' SUITE_FLAGS='--samples 2'");
  INFO(folder.printed);
  CHECK(code == 0);
  CHECK_THAT(folder.printed,
             Contains("ncu: ") && Contains("suite decode: ") && Contains("(estimate 15)") &&
                 Contains("suite lengths: left out") && Contains("-- to copy: ") &&
                 Contains("SUITE_FLAGS='--samples 2'") && Contains("scripts/gpu_run suites`") &&
                 Contains("suite.decode.md, suite.decode.svg") && Contains("== suites: "));
  CHECK_THAT(folder.left("suite.decode.md"), Contains("### decode") && Contains("Fake H200") &&
                                                 Contains("![decode](suite.decode.svg)"));
  CHECK_THAT(folder.left("suite.fa3-pipeline.csv"), Contains("ablation,tile,"));
}

TEST_CASE("gpu_run suites goes on behind a suite that fails or runs out of time") {
  Folder folder;
  // Of --sweep only decode knows nothing.
  const int code =
      folder.run("suites", "SUITES='decode generations' SUITE_FLAGS='--sweep 512 --samples 1'");
  INFO(folder.printed);
  CHECK(code == 1);
  CHECK_THAT(folder.printed, Contains("leave it out with --suite decode") &&
                                 Contains("exit code 2") && Contains("suite.generations.md"));
  CHECK(folder.run("suites", "SUITES=generations SUITE_SECONDS=1") == 0);
  CHECK_THAT(folder.left("suite.generations.md"), Contains("no time left of --budget"));
}

TEST_CASE("gpu_run traffic says for how many kernels the model holds") {
  Folder folder;
  folder.add_profiler(
      "echo '\"0\",\"dram__bytes_read.sum\",\"1\"'; echo '\"0\",\"dram__bytes_write.sum\",\"2\"'");
  const int code = folder.run(
      "traffic", "TRAFFIC_LENGTHS=1024 SUITE_FLAGS='--samples 1' " + folder.with_profiler());
  INFO(folder.printed);
  CHECK(code == 0);
  CHECK_THAT(folder.printed, Contains("Version 1.2") && Contains("calls told") &&
                                 Contains("model within 15 % of the counters in 0 of"));
}

TEST_CASE("gpu_run bottlenecks puts ceilings beside the busiest units") {
  Folder folder;
  folder.add_profiler(
      "[ $i != 0 ] || echo "
      "'\"ID\",\"gpu__time_duration.sum\",\"lts__throughput.avg.pct_of_peak_sustained_"
      "elapsed\"'; echo \"\\\"$i\\\",\\\"1,000\\\",\\\"50\\\"\"");
  const int code = folder.run("bottlenecks", folder.with_profiler());
  INFO(folder.printed);
  CHECK(code == 0);
  // This profiler knows L2 alone, and L2 is named for one of the ten.
  CHECK_THAT(folder.printed, Contains("10 of 10 calls told") &&
                                 Contains("agrees with the profiler in 1 of 10") &&
                                 Contains("suite.bottlenecks.md"));
  CHECK_THAT(folder.left("suite.bottlenecks.csv.ncu"),
             Contains("# fa1 d 128 full 16384, ") && Contains("\"0\",\"1,000\",\"50\""));
}

}  // namespace
}  // namespace heddle
