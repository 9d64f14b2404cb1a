// The host tier: every family, every knob, pair by pair, and the fault catalogue's inputs.
//   HEDDLE_HOST_STRIDE=4 HEDDLE_SEED=7 host_suite_test      every fourth row
// Built a second time with sanitizers, as host_sanitized_test: a tenth of the rows, their kernels
// with sanitizers too.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <iostream>

#include "runtime/host/suite.hpp"
#include "tests/testing/environment.hpp"

namespace heddle {
namespace {

#ifdef HEDDLE_SANITIZED
constexpr int kStride = 10;
HostCompilerOptions compiler_options() {
  // A program and its shared objects need one sanitizer library: that of the program's compiler.
  return {HEDDLE_SANITIZED, Instrumentation::kSanitizers};
}
#else
constexpr int kStride = 1;
HostCompilerOptions compiler_options() {
  return {};
}
#endif

TEST_CASE("every family is right on the host, pair by pair of knobs and on the named cases") {
  HostCompiler compiler(compiler_options());
  HostSuiteOptions options;
  options.seed = drawn_seed();
  options.stride = static_cast<int>(number_from("HEDDLE_HOST_STRIDE", kStride));
  std::cout << "seed " << options.seed << ", compiler " << compiler.compiler() << '\n';
  const HostSuiteReport report = run_host_suite(compiler, find_architecture("sm_90a"), options, {});
  for (const HostSuiteFailure& failure : report.failures) {
    std::cout << "FAILED " << failure.what << "\n  " << failure.why << '\n';
  }
  std::cout << report.checks << " checks with " << report.kernels << " kernels, "
            << report.failures.size() << " failed\n";
  CHECK(report.failures.empty());
  CHECK(report.checks > 0);
}

}  // namespace
}  // namespace heddle
