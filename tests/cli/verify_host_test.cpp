// `heddle verify --device host`: no GPU, no NVRTC, a C++ compiler.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/cli/heddle_process.hpp"

namespace heddle {
namespace {

using Catch::Contains;

TEST_CASE("verify runs the emitted kernel on the CPU and judges it") {
  HeddleProcess heddle;
  heddle.environment()["PATH"] = "/usr/local/bin:/usr/bin:/bin";  // compiler and linker
  const auto result = heddle.run({"verify", "--device", "host", "--heads", "4", "--kv-heads", "2",
                                  "--seqlen-q", "33", "--seqlen-kv", "70", "--head-dim", "40",
                                  "--mask", "causal", "--seed", "3", "--json"});
  INFO(result.errors);
  CHECK(result.code == 0);
  const auto json = nlohmann::json::parse(result.output);
  CHECK(json["passed"] == true);
  CHECK(json["max_error"] > 0.0);
  CHECK(json["explanation"] == "");
}

TEST_CASE("wrong inputs are refused before anything is compiled") {
  const auto result = HeddleProcess().run({"verify", "--device", "host", "--inputs", "even"});
  CHECK(result.code == 2);
  CHECK_THAT(result.errors, Contains("'even'") && Contains("normal"));
}

TEST_CASE("no host compiler is exit code 3 and what to install") {
  HeddleProcess heddle;
  heddle.environment()["PATH"] = "/nonexistent";
  const auto none = heddle.run({"verify", "--device", "host"});
  CHECK(none.code == 3);
  CHECK_THAT(none.errors, Contains("clang++, g++") && Contains("apt-get install g++"));
  const auto wrong = heddle.run({"verify", "--device", "host", "--host-compiler", "/nowhere/cc"});
  CHECK(wrong.code == 3);
  CHECK_THAT(wrong.errors, Contains("/nowhere/cc") && Contains("HEDDLE_HOST_CXX"));
}

TEST_CASE("the suite refuses what it would not look at") {
  for (const char* device : {"gpu", "host"}) {
    HeddleProcess heddle;
    heddle.environment()["PATH"] = "/usr/local/bin:/usr/bin:/bin";
    const auto problem = heddle.run({"verify", "--device", device, "--suite", "--head-dim", "64"});
    CHECK(problem.code == 2);
    CHECK_THAT(problem.errors, Contains("--suite checks problems of its own"));
    const auto knob = heddle.run({"verify", "--device", device, "--suite", "--set", "tile_m=64"});
    CHECK(knob.code == 2);
    CHECK_THAT(knob.errors, Contains("--set tile_m=64") && Contains("leave --set out"));
  }
}

TEST_CASE("an unknown device is refused by value") {
  const auto result = HeddleProcess().run({"verify", "--device", "tpu"});
  CHECK(result.code == 2);
  CHECK_THAT(result.errors, Contains("'tpu'") && Contains("gpu, host"));
}

TEST_CASE("A problem of eight outputs is judged by those of more sequences") {
  HeddleProcess heddle;
  heddle.environment()["PATH"] = "/usr/local/bin:/usr/bin:/bin";
  const auto result = heddle.run({"verify", "--device", "host", "--head-dim", "8", "--heads", "1",
                                  "--seqlen-q", "1", "--seqlen-kv", "300", "--seed", "3"});
  INFO(result.output << result.errors);
  CHECK(result.code == 0);
  CHECK_THAT(result.output, Catch::Contains("batch 128"));
}

}  // namespace
}  // namespace heddle
