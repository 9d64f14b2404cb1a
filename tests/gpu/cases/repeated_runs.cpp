// C15: the same input gives the same bits, run after run.

#include <catch2/catch.hpp>

#include "tests/gpu/cases/load_process.hpp"
#include "tests/gpu/cases/repeats.hpp"

namespace heddle {
namespace {

constexpr int kRuns = 1000;
constexpr int kRunsPerLevel = 100;  ///< of ptxas's optimisation

void check_repeats(Gpu& gpu, int runs) {
  const SmallKernels kernels(gpu);
  const Problem problem = RepeatedRuns::problem();
  for (const Kernel& kernel : load_kernels(gpu, every_family(problem, gpu.limits()))) {
    INFO(full_text(kernel.config) << ", seed " << test_seed());
    const RepeatedRuns repeated(gpu, kernels, kernel);
    CHECK(repeated.check_values() == "");
    CHECK(repeated.differences(runs) == 0);
    CHECK(repeated.guards_intact());
  }
}

}  // namespace

TEST_CASE("C15 a thousand runs of each family give the same bits") {
  Gpu gpu;
  check_repeats(gpu, kRuns);
}

TEST_CASE("C15 and while a second process loads the GPU") {
  Gpu gpu;
  const LoadProcess load;
  check_repeats(gpu, kRuns);
  CHECK(load.is_running());
}

TEST_CASE("C15 and at lower levels of ptxas's optimisation") {
  for (const char* level : {"-O1", "-O2"}) {
    INFO("ptxas " << level);
    Gpu gpu({std::string("--ptxas-options=") + level});
    check_repeats(gpu, kRunsPerLevel);
  }
}

}  // namespace heddle
