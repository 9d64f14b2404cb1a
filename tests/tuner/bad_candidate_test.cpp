// Bad candidates as a real compiler sees them: all but one compile, and that one is stopped.
#include "tuner/bad_candidate.hpp"

#include <catch2/catch.hpp>
#include <chrono>

#include "generator/architecture.hpp"
#include "tests/runtime/real_nvrtc.hpp"
#include "tuner/compile_pool.hpp"

namespace heddle {
namespace {

using Catch::Contains;

Variant causal() {
  return {.head_dim = 64, .mask = MaskKind::kCausal};
}

CompileResult compile(BadKind kind, const WorkerSetup& setup, const CompileLimits& limits) {
  Compiler compiler{{}};
  const Variant variant = causal();
  const DeviceLimits& device = find_architecture("sm_90a");
  CompilePool pool(compiler, variant, device, setup, limits);
  pool.add({7, KernelConfig{}, kind});
  while (true) {
    if (auto result = pool.take(std::chrono::milliseconds(100))) return *result;
  }
}

TEST_CASE("Every bad kind but one compiles under its own name, for one architecture or another") {
  real_nvrtc_or_skip();
  const auto [kind, name] =
      GENERATE(from_range(EnumNames<BadKind>::names.begin(), EnumNames<BadKind>::names.end()));
  if (kind == BadKind::kCompilesForMinutes) return;
  INFO(name);
  const auto result = compile(kind, {}, {.threads = 1});
  CHECK(result.failure.empty());
  REQUIRE(result.kernels);
  CHECK(result.kernels->parts.front()->entry == "heddle_bad_" + std::string(name));
  CHECK(result.kernels->extra_shared_bytes ==
        (kind == BadKind::kTooMuchShared ? kTooMuchSharedBytes : 0));
}

TEST_CASE("Their texts differ from the good one's and from each other's") {
  const DeviceLimits& device = find_architecture("sm_90a");
  std::vector<std::string> hashes{hash_of(emit_parts(causal(), KernelConfig{}, device))};
  for (const auto& [kind, name] : EnumNames<BadKind>::names) {
    hashes.push_back(hash_of(emit_parts(causal(), KernelConfig{}, device, kind)));
  }
  std::sort(hashes.begin(), hashes.end());
  CHECK(std::adjacent_find(hashes.begin(), hashes.end()) == hashes.end());
}

TEST_CASE("C86 what compiles for minutes is stopped at its limit, by a worker's end") {
  real_nvrtc_or_skip();
  const auto start = std::chrono::steady_clock::now();
  WorkerSetup setup;
  setup.program = HEDDLE_WORKER;
  const auto result =
      compile(BadKind::kCompilesForMinutes, setup, {.threads = 1, .cpu_seconds = 5});
  INFO(result.failure);
  CHECK_FALSE(result.kernels);
  // Whichever limit it meets first: this text takes memory as well as time.
  CHECK_THAT(result.failure, Contains("compile time-out: ") || Contains("wanted more than"));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  CHECK(took.count() < 5 / 0.1 + 10);
}

}  // namespace
}  // namespace heddle
