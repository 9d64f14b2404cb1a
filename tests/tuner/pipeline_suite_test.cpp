// The ablation's kernels are legal, and each lacks what its name says and nothing else.
#include <catch2/catch.hpp>
#include <set>

#include "generator/legality.hpp"
#include "tuner/pipeline_suite.hpp"

namespace heddle {
namespace {

/// Names of the knobs in which two configs differ.
std::set<std::string> differences(const KernelConfig& left, const KernelConfig& right) {
  std::set<std::string> names;
  for_each_field(left, [&](const auto& knob, const auto& value) {
    if (!(value == right.*(knob.member))) names.insert(std::string(knob.name));
  });
  return names;
}

const std::set<std::string>& knobs_of(Ablation ablation) {
  static const std::set<std::string> kKnobs[] = {
      {}, {"ping_pong"}, {"overlap"}, {"warp_specialized"}, {"ping_pong", "warp_specialized"}};
  return kKnobs[static_cast<int>(ablation)];
}

}  // namespace

TEST_CASE("the ablation's problem is the paper's") {
  const Problem problem = pipeline_problem();
  // 4 * 4 * 16 * 8448^2 * 128: 3.538 ms of it are 661 TFLOP/s.
  CHECK(flop_count(problem) / 3.538e-3 * 1e-12 == Approx(661).epsilon(1e-3));
  CHECK(problem.variant.dtype == DataType::kFp16);
  CHECK(problem.variant.mask == MaskKind::kFull);
}

TEST_CASE("the ablation's kernels are legal and differ from the full one by what is off") {
  const Problem problem = pipeline_problem();
  const auto kernels = pipeline_kernels();
  constexpr std::size_t kAblations = 5;
  REQUIRE(kernels.size() % kAblations == 0);
  std::set<std::string> tiles;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const AblationKernel& kernel = kernels[i];
    const AblationKernel& full = kernels[i - i % kAblations];
    INFO(kernel.tile << "; " << full_text(kernel.config));
    CHECK_FALSE(reject(problem.variant, kernel.config, find_architecture("sm_90a")).has_value());
    CHECK(static_cast<std::size_t>(kernel.ablation) == i % kAblations);
    CHECK(kernel.tile == full.tile);
    CHECK(differences(kernel.config, full.config) == knobs_of(kernel.ablation));
    CHECK(kernel.config.running_max == RunningMax::kEveryBlock);
    tiles.insert(kernel.tile);
  }
  CHECK(tiles.size() == kernels.size() / kAblations);
  const KernelConfig& full = kernels.front().config;
  CHECK((full.ping_pong && full.overlap != Overlap::kNone && full.warp_specialized));
}

}  // namespace heddle
