// C15: warps that are late may change the time a kernel takes, not its results.

#include <catch2/catch.hpp>

#include "generator/kernel_part.hpp"
#include "tests/gpu/cases/delayed_source.hpp"
#include "tests/gpu/cases/repeats.hpp"
#include "tuner/config_kernels.hpp"

namespace heddle {
namespace {

constexpr int kSeeds = 24;

std::unique_ptr<LoadedConfig> load_delayed(Gpu& gpu, const KernelRequest& request) {
  ConfigKernels kernels;
  for (const KernelPart part : kernel_parts(request.config)) {
    kernels.parts.push_back(gpu.compiler().compile(
        with_delays(emit(request.variant, request.config, part, gpu.limits()))));
  }
  return load_config(gpu.device(), request.variant, request.config, kernels);
}

}  // namespace

TEST_CASE("C15 delays drawn by a seed, where warps begin and behind barriers, change no bit") {
  Gpu gpu;
  const SmallKernels kernels(gpu);
  const Problem problem = RepeatedRuns::problem();
  for (const KernelRequest& request : every_family(problem, gpu.limits())) {
    INFO(full_text(request.config) << ", seed " << test_seed());
    const RepeatedRuns repeated(gpu, kernels, load_kernel(gpu, request.variant, request.config));
    const auto delayed = load_delayed(gpu, request);
    const auto seed = static_cast<std::uint32_t>(test_seed());
    const auto launch = [&](int i, const LaunchPlan& plan, const AttentionParameters& parameters,
                            DriverStream stream) {
      const std::uint32_t drawn = (seed + static_cast<std::uint32_t>(i)) | 1u << 31;
      delayed->launch(plan, with_seed(parameters, drawn), stream);
    };
    CHECK(repeated.check_values() == "");
    CHECK(repeated.differences(kSeeds, launch) == 0);
    CHECK(repeated.guards_intact());
  }
}

}  // namespace heddle
