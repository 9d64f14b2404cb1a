// C96: no block waits for another that may not have begun, and the number of SMs is no part of a
// result.

#include <catch2/catch.hpp>

#include "generator/candidates.hpp"
#include "generator/legality.hpp"
#include "tests/gpu/cases/repeats.hpp"

namespace heddle {
namespace {

constexpr int kRuns = 3;
constexpr double kHeldSeconds = 0.2;  ///< the runs take a hundredth of it
constexpr DriverResult kNotReady = 600;

/// Kernels whose blocks walk tiles, where the device has fa3, and kernels of several splits.
std::vector<KernelRequest> walking_requests(const Problem& problem, const DeviceLimits& limits) {
  std::vector<KernelRequest> requests{
      {problem.variant, fastest_config(problem, limits, {"fa2 split", Family::kFa2, true})}};
  if (enumerate_candidates(problem.variant, limits, Family::kFa3).empty()) return requests;
  for (const bool split : {false, true}) {
    KernelConfig config = fastest_config(problem, limits, {"fa3", Family::kFa3, split});
    for (const auto scheduler : {TileScheduler::kStatic, TileScheduler::kDynamic}) {
      config.scheduler = scheduler;
      REQUIRE_FALSE(reject(problem.variant, config, limits).has_value());
      requests.push_back({problem.variant, config});
    }
  }
  return requests;
}

unsigned first_grid(const Problem& problem, const KernelConfig& config,
                    const DeviceLimits& limits) {
  return plan_launch(problem, config, limits).launches[0].grid;
}

}  // namespace

TEST_CASE("C96 blocks that walk tiles end while another stream's kernel holds half of the SMs") {
  Gpu gpu;
  const SmallKernels kernels(gpu);
  const auto query = gpu.entry<DriverResult(DriverStream)>("cuStreamQuery");
  const Problem problem = RepeatedRuns::problem();
  for (const Kernel& kernel : load_kernels(gpu, walking_requests(problem, gpu.limits()))) {
    INFO(full_text(kernel.config) << ", seed " << test_seed());
    const NonBlockingStream holder(gpu.api());
    const RepeatedRuns repeated(gpu, kernels, kernel);
    CHECK(repeated.check_values() == "");
    CHECK(repeated.differences(1) == 0);  // all kernels are on the device now
    int runs_while_held = 0;
    const auto launch = [&](int i, const LaunchPlan& plan, const AttentionParameters& parameters,
                            DriverStream stream) {
      if (i == 0) kernels.hold(gpu.limits().sm_count / 2, kHeldSeconds, holder.get());
      if (i > 0) gpu.wait_for(stream);
      if (i > 0 && query(holder.get()) == kNotReady) ++runs_while_held;
      kernel.loaded->launch(plan, parameters, stream);
    };
    CHECK(repeated.differences(kRuns, launch) == 0);
    CHECK(runs_while_held == kRuns - 1);
    gpu.wait_for(holder.get());
    CHECK(repeated.guards_intact());
  }
}

TEST_CASE("C96 a grid planned for a device of twice as many SMs, or of one, gives the same bits") {
  Gpu gpu;
  const SmallKernels kernels(gpu);
  const Problem problem = RepeatedRuns::problem();
  for (const Kernel& kernel : load_kernels(gpu, walking_requests(problem, gpu.limits()))) {
    const RepeatedRuns repeated(gpu, kernels, kernel);
    for (const int multiprocessors : {1, 2 * gpu.limits().sm_count}) {
      INFO(full_text(kernel.config) << ", SMs: " << multiprocessors);
      DeviceLimits other = gpu.limits();
      other.sm_count = multiprocessors;
      if (kernel.config.scheduler != TileScheduler::kTilePerBlock) {
        CHECK(first_grid(problem, kernel.config, other) !=
              first_grid(problem, kernel.config, gpu.limits()));
      }
      const LaunchPlan planned = plan_launch(problem, kernel.config, other);
      const auto launch = [&](int, const LaunchPlan&, const AttentionParameters& parameters,
                              DriverStream stream) {
        kernel.loaded->launch(planned, parameters, stream);
      };
      CHECK(repeated.differences(kRuns, launch) == 0);
      CHECK(repeated.guards_intact());
    }
  }
}

}  // namespace heddle
