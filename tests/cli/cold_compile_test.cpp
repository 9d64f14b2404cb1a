// Emit and NVRTC without any cache: a second of one core at most, where the core is the one that
// the limit was set on. Seconds would judge the machine the test runs on, so it divides by a
// compile that heddle has no part in.
#include <algorithm>
#include <cstdio>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/cli/heddle_process.hpp"
#include "tests/cli/yardstick.hpp"
#include "tests/runtime/real_nvrtc.hpp"

namespace heddle {
namespace {

constexpr double kLimitSeconds = 1.0;
/// Least of five on a quiet core of the machine that the second was set on (Xeon, NVRTC 13.0,
/// 2026-11-29): 0.34 to 0.36 s there, where the command took 0.71 to 0.79 s.
constexpr double kYardstickSeconds = 0.35;
constexpr double kLimitRatio = kLimitSeconds / kYardstickSeconds;
constexpr int kAttempts = 5;       // a neighbour on the same core slows one, not all
constexpr int kMostAttempts = 12;  // nor does it stay this long; a slower compile does

/// Processor time of the whole command.
double cold_compile_seconds(const HeddleProcess& heddle, const std::string& family) {
  const auto result = heddle.run({"compile", "--arch", "sm_90a", "--dtype", "bf16", "--head-dim",
                                  "128", "--family", family, "--no-cache", "--json"});
  REQUIRE(result.code == 0);
  const auto kernel = nlohmann::json::parse(result.output)[0];
  CHECK(kernel["part"] == family + "_attention");
  CHECK(kernel["from_cache"] == false);
  CHECK(kernel["spill_store_bytes"] == 0);
  CHECK(kernel["stack_bytes"] == 0);
  CHECK(kernel["registers"].get<int>() > 0);
  return result.processor_seconds;
}

TEST_CASE("A cold default kernel of fa2 and of fa3 takes a second of one core at most") {
  const std::string family = GENERATE("fa2", "fa3");
  const auto nvrtc = real_nvrtc_or_skip();
  const HeddleProcess heddle;
  double ours = 1e9;
  double yardstick = 1e9;
  int attempts = 0;
  while (attempts < kAttempts || (attempts < kMostAttempts && ours > kLimitRatio * yardstick)) {
    ++attempts;
    yardstick = std::min(yardstick, yardstick_seconds(*nvrtc));
    ours = std::min(ours, cold_compile_seconds(heddle, family));
  }
  std::printf(
      "cold %s, head_dim 128, bf16, sm_90a, least of %d: %.3f s of processor time; yardstick "
      "%.3f s; ratio %.2f, at most %.2f\n",
      family.c_str(), attempts, ours, yardstick, ours / yardstick, kLimitRatio);
#ifndef __SANITIZE_ADDRESS__
  CHECK(ours <= kLimitRatio * yardstick);
#endif
}

}  // namespace
}  // namespace heddle
