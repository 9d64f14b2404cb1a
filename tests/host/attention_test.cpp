// One block, by hand: what it costs, and that each compiler of this machine will do.
#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <ctime>
#include <iostream>

#include "runtime/host/verify.hpp"
#include "runtime/testing/inputs.hpp"

namespace heddle {
namespace {

/// 64 queries, 256 keys, head_dim 64, one head: one block of four warps with 64 x 64 tiles.
Problem one_block() {
  Problem problem;
  problem.variant.head_dim = 64;
  problem.sizes.seqlen_q = 64;
  problem.sizes.seqlen_kv = 256;
  return problem;
}

KernelConfig small_fa2() {
  KernelConfig config;
  config.tile_m = config.tile_n = 64;
  config.warps = 4;
  config.stages = 2;
  return config;
}

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

TEST_CASE("a block of 128 threads over 256 keys takes 100 ms at most, all checks on") {
  constexpr double kLimitSeconds = 0.1;
  const DeviceLimits limits = find_architecture("sm_90a");
  const Problem problem = one_block();
  HostCompiler compiler;
  const HostConfig kernels = compile_for_host(compiler, problem.variant, small_fa2(), limits);
  const HostTensors tensors = make_inputs(problem, InputKind::kNormal, 7);
  double best = 1e9;
  for (int i = 0; i < 5; ++i) {
    const double begin = processor_seconds();
    const HostRun run = run_on_host(problem, kernels, limits, tensors, {});
    best = std::min(best, processor_seconds() - begin);
    REQUIRE(run.faults.empty());
  }
  std::cout << "one fa2 block, " << compiler.compiler() << ": " << best << " s of processor time\n";
  CHECK(best <= kLimitSeconds);
}

TEST_CASE("each compiler of this machine gives the same bits") {
  const DeviceLimits limits = find_architecture("sm_90a");
  const HostCase host_case =
      make_host_case(one_block(), make_inputs(one_block(), InputKind::kRising, 11));
  std::vector<std::vector<std::uint16_t>> outputs;
  for (const char* name : {"g++", "clang++"}) {
    try {
      HostCompiler compiler({.compiler = name});
      const HostConfig kernels =
          compile_for_host(compiler, host_case.problem.variant, small_fa2(), limits);
      const HostVerdict verdict = verify_on_host(host_case, kernels, limits, {});
      INFO(name << ": " << verdict.explain());
      CHECK(verdict.passed());
      outputs.push_back(verdict.run.output);
    } catch (const Error& error) {
      REQUIRE(error.code() == ErrorCode::kHostCompilerMissing);
    }
  }
  REQUIRE_FALSE(outputs.empty());
  if (outputs.size() == 1) WARN("only one compiler here: nothing to compare");
  CHECK(outputs.front() == outputs.back());
}

TEST_CASE("a host compiler that is not there is an error with a remedy") {
  try {
    HostCompiler compiler({.compiler = "/nowhere/c++"});
    FAIL("it was accepted");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::kHostCompilerMissing);
    CHECK_THAT(error.what(), Catch::Contains("/nowhere/c++") && Catch::Contains("apt-get install"));
  }
}

TEST_CASE("text that does not compile is refused with the compiler's words") {
  const DeviceLimits limits = find_architecture("sm_90a");
  const Problem problem = one_block();
  KernelSource source = emit(problem.variant, small_fa2(), KernelPart::kFa2Attention, limits);
  source.main.text += "\nint broken = no_such_name;\n";
  HostCompiler compiler;
  try {
    compiler.compile(source);
    FAIL("it compiled");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::kCompileFailed);
    CHECK_THAT(error.what(), Catch::Contains("no_such_name"));
  }
}

}  // namespace
}  // namespace heddle
