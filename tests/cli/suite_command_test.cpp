// `heddle bench --suite NAME` as a process on the fake driver: files, messages, exit codes. Its
// times are made up by the fake; no test looks at them.
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/cli/heddle_process.hpp"

namespace heddle {
namespace {

using Catch::Contains;

/// A suite on the fake machine, small where it can be.
std::vector<std::string> suite(const std::string& name, const std::vector<std::string>& more = {}) {
  std::vector<std::string> words{"bench",
                                 "--suite",
                                 name,
                                 "--driver",
                                 HEDDLE_FAKE_CUDA_PATH,
                                 "--nvrtc",
                                 HEDDLE_FAKE_NVRTC_FOLDER "/13_loadable",
                                 "--samples",
                                 "2"};
  if (name == "fa1-io" || name == "generations") {
    words.insert(words.end(), {"--sweep", "512"});
  }
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

const std::vector<std::string> kOnGpu{"fa1-io",      "fa2-parallelism", "fa3-pipeline",
                                      "generations", "decode",          "bottlenecks"};

TEST_CASE("every suite prints method and sources and writes CSV, SVG and Markdown") {
  auto names = kOnGpu;
  names.emplace_back("compile");
  for (const std::string& name : names) {
    const HeddleProcess heddle;
    const auto result =
        heddle.run(suite(name, {"--csv", heddle.path("out.csv"), "--svg", heddle.path("out.svg"),
                                "--markdown", heddle.path("out.md")}));
    INFO(name << "\n" << result.output << result.errors);
    REQUIRE(result.code == 0);
    CHECK_THAT(result.output, Catch::StartsWith(name + "; heddle ") && Contains("; date 20") &&
                                  Contains("command heddle bench --suite " + name) &&
                                  Contains("; nvrtc 13.0"));
    if (name != "bottlenecks") CHECK_THAT(result.output, Contains("date: "));
    if (name != "compile") CHECK_THAT(result.output, Contains("; gpu Fake H200; driver CUDA 13.0"));
    if (name == "fa1-io" || name == "bottlenecks") {
      CHECK_THAT(result.output, Contains("counters: none: Nsight Compute (ncu) is not on PATH"));
    }
    const std::string csv = heddle.read("out.csv");
    CHECK_THAT(csv, Contains(",suite,heddle,date,command") && Contains("," + name + ","));
    CHECK_THAT(heddle.read("out.md"), Contains("### " + name + "\n") && Contains("\n|---|") &&
                                          Contains("`heddle bench --suite " + name) &&
                                          Contains("![" + name + "](out.svg)"));
    CHECK_THAT(heddle.read("out.svg"),
               Contains("<svg xmlns=") && Contains("prefers-color-scheme: dark"));
    const auto again = heddle.run({"bench", "--suite", name, "--from", heddle.path("out.csv"),
                                   "--svg", heddle.path("again.svg")});
    CHECK(again.code == 0);
    CHECK(again.errors.empty());
    CHECK(heddle.read("again.svg") == heddle.read("out.svg"));
    if (name == "compile") {
      CHECK_THAT(heddle.read("out.svg"), Contains("fa2, d 128, causal") && !Contains("d 64"));
    }
    if (name == "bottlenecks") continue;  // without counters nothing is drawn
    CHECK_THAT(heddle.read("out.svg"), Contains(" mark\" ") || Contains(" bar\" "));
  }
}

TEST_CASE("suites that need a GPU end with 3 where there is none, the others do without") {
  const HeddleProcess heddle;
  for (const std::string& name : kOnGpu) {
    const auto result =
        heddle.run({"bench", "--suite", name, "--driver", heddle.path("libcuda.so.1")});
    INFO(name);
    CHECK(result.code == 3);
    CHECK(result.output.empty());
    CHECK_THAT(result.errors, Contains("install the NVIDIA driver"));
  }
  const auto compile =
      heddle.run({"bench", "--suite", "compile", "--driver", heddle.path("libcuda.so.1"), "--nvrtc",
                  HEDDLE_FAKE_NVRTC_FOLDER "/13_loadable", "--json"});
  INFO(compile.errors);
  REQUIRE(compile.code == 0);
  const auto json = nlohmann::json::parse(compile.output);
  CHECK(json["architecture"] == "sm_90a");
  int ours = 0;
  for (const auto& row : json["rows"]) {
    if (row["source"] != "this run") continue;
    ++ours;
    CHECK(row["cold_seconds"] > 0);
    CHECK(row["warm_seconds"] > 0);
    CHECK(row["nvrtc_seconds"] < row["cold_seconds"]);
  }
  CHECK(ours == 20);  // five kinds, two head dims, two masks
}

TEST_CASE("fa1-io says where counters are missing, and reads them where a profiler is") {
  HeddleProcess heddle;
  // Made-up bytes: 3 a launch, of as many launches as it is asked for.
  const std::string script =
      heddle.write("ncu",
                   "#!/bin/sh\n"
                   "while [ \"$1\" != --launch-count ]; do shift; done\n"
                   "i=0; while [ $i -lt $2 ]; do i=$((i + 1))\n"
                   "echo \"\\\"$i\\\",\\\"dram__bytes_read.sum\\\",\\\"1\\\"\"\n"
                   "echo \"\\\"$i\\\",\\\"dram__bytes_write.sum\\\",\\\"2\\\"\"\n"
                   "done\n");
  REQUIRE(::chmod(script.c_str(), 0700) == 0);
  heddle.environment()["PATH"] = heddle.path("") + ":/usr/bin:/bin";
  auto words = suite("fa1-io", {"--json"});
  for (std::string& word : words) {
    if (word == "512") word = "1024";  // counters are not read at 512
  }
  const auto with = heddle.run(words);
  INFO(with.output << with.errors);
  REQUIRE(with.code == 0);
  int read = 0;
  const auto json = nlohmann::json::parse(with.output);
  for (const auto& row : json["rows"]) {
    if (row["counter_bytes"].is_null()) {
      CHECK(row["seconds"].is_null());
      continue;
    }
    ++read;
    CHECK(row["length"] == 1024);
    CHECK(row["counter_bytes"] == (row["family"] == "unfused" ? 9 : 3));
  }
  CHECK(read >= 6);  // fa1, fa2, fa3 of both problems; unfused may not fit into the fake's memory

  heddle.write("ncu", "#!/bin/sh\nexit 1\n");
  const auto broken = heddle.run(words);
  CHECK(broken.code == 0);
  CHECK_THAT(broken.output, Contains("ncu ran and told nothing"));
}

TEST_CASE("bottlenecks reads the units of each kernel that the profiler tells of") {
  HeddleProcess heddle;
  const std::string script =
      heddle.write("ncu",
                   "#!/bin/sh\n"
                   "while [ \"$1\" != --launch-count ]; do shift; done\n"
                   "echo '\"ID\",\"gpu__time_duration.sum\",\"gpu__dram_throughput.avg.pct_of_peak_"
                   "sustained_elapsed\"'\n"
                   "echo '\"\",\"ns\",\"%\"'\n"
                   "i=0; while [ $i -lt $2 ]; do echo \"\\\"$i\\\",\\\"1,000\\\",\\\"80\\\"\"\n"
                   "i=$((i + 1)); done\n");
  REQUIRE(::chmod(script.c_str(), 0700) == 0);
  heddle.environment()["PATH"] = heddle.path("") + ":/usr/bin:/bin";
  heddle.environment()["HEDDLE_NVML"] = HEDDLE_FAKE_NVML_PATH;
  const auto result = heddle.run(suite("bottlenecks", {"--json"}));
  INFO(result.output << result.errors);
  REQUIRE(result.code == 0);
  const auto json = nlohmann::json::parse(result.output);
  REQUIRE(json["rows"].size() == 10);
  for (const auto& row : json["rows"]) {
    CHECK(row["hbm"] == 80);
    CHECK((row["agrees"] == "busiest") == (row["named"] == "HBM"));
  }
  CHECK(json["rows"][0]["seconds"].get<double>() == Approx(3e-6));  // three kernels
  CHECK(json["driver"] == "999.1, CUDA 13.0");
}

TEST_CASE("a suite out of time tells what is missing, and writes what it has") {
  const HeddleProcess heddle;
  for (const std::string name : {"generations", "compile"}) {
    const auto result =
        heddle.run(suite(name, {"--budget", "1e-9", "--csv", heddle.path("out.csv")}));
    INFO(name << "\n" << result.output << result.errors);
    CHECK(result.code == 0);
    CHECK_THAT(result.output, Contains("no time left of --budget"));
    CHECK_THAT(heddle.read("out.csv"), Contains(",suite,heddle,date,command"));
  }
}

TEST_CASE("flags of suites are refused where they do not belong") {
  const HeddleProcess heddle;
  const std::vector<std::pair<std::vector<std::string>, std::string>> wrong{
      {{"--suite", "decode", "--head-dim", "64"}, "--suite decode brings its own problem"},
      {{"--suite", "decode", "--sweep", "512"}, "leave it out with --suite decode"},
      {{"--suite", "generations", "--sweep", "500"}, "--sweep 500: not of the sweep"},
      {{"--suite", "lengths"}, "give its --csv file as --from FILE"},
      {{"--csv", "x.csv"}, "--suite"},
      {{"--suite", "decode", "--peers", heddle.write("peers.yaml", "sources: {}\n")},
       "peers.yaml:1: forward: is missing"}};
  for (const auto& [flags, message] : wrong) {
    std::vector<std::string> words{"bench"};
    words.insert(words.end(), flags.begin(), flags.end());
    const auto result = heddle.run(words);
    INFO(flags.back() << "\n" << result.errors);
    CHECK(result.code == 2);
    CHECK_THAT(result.errors, Contains(message));
  }
  const auto unwritable =
      heddle.run({"bench", "--suite", "fp8-accuracy", "--heads", "1", "--seqlen-q", "16",
                  "--seqlen-kv", "16", "--csv", heddle.path("no/such/folder.csv")});
  CHECK(unwritable.code == 3);
  CHECK_THAT(unwritable.errors, Contains("--csv: cannot write"));
}

}  // namespace
}  // namespace heddle
