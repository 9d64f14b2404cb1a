#include "generator/launch_plan.hpp"

#include <cmath>
#include <cstdint>
#include <numbers>

#include <catch2/catch.hpp>

#include "generator/candidates.hpp"

using namespace heddle;

namespace {

Problem problem_of(int batch, int heads, int seqlen_q, int seqlen_kv) {
  Problem problem;
  problem.sizes.batch = batch;
  problem.sizes.heads = heads;
  problem.sizes.seqlen_q = seqlen_q;
  problem.sizes.seqlen_kv = seqlen_kv;
  return problem;
}

KernelConfig config_of(Family family, int tile_m, int tile_n) {
  KernelConfig config;
  config.family = family;
  config.tile_m = tile_m;
  config.tile_n = tile_n;
  return config;
}

const DeviceLimits& h200() {
  return find_architecture("sm_90a");
}

void* address(std::uintptr_t value) {
  return reinterpret_cast<void*>(value);
}

}  // namespace

TEST_CASE("every tiled part has one block per query tile, head and sequence") {
  const Problem problem = problem_of(2, 3, 130, 1000);
  const LaunchPlan unfused = plan_launch(problem, config_of(Family::kUnfused, 64, 128), h200());
  REQUIRE(unfused.count == 3);
  CHECK(unfused.launches[0].grid == 2 * 3 * 3);  // walks its key tiles: they are not in the grid
  CHECK(unfused.launches[2].grid == 2 * 3 * 3);
  const auto rows_per_block = static_cast<unsigned>(unfused_softmax_rows_per_block());
  CHECK(unfused.launches[1].grid == (2 * 3 * 130 + rows_per_block - 1) / rows_per_block);

  const LaunchPlan fa2 = plan_launch(problem, config_of(Family::kFa2, 64, 64), h200());
  REQUIRE(fa2.count == 1);
  CHECK(fa2.launches[0].grid == 2 * 3 * 3);
  CHECK(fa2.workspace_bytes == 0);
  CHECK(fa2.split_tiles == 16);
}

TEST_CASE("fa1 has one block per head, and nothing quadratic") {
  const LaunchPlan plan =
      plan_launch(problem_of(2, 3, 4096, 4096), config_of(Family::kFa1, 64, 64), h200());
  REQUIRE(plan.count == 1);
  CHECK(plan.launches[0].grid == 6);
  CHECK(plan.workspace_bytes == 0);
}

TEST_CASE("an explicit split count is honoured and its partials fit the workspace exactly") {
  Problem problem = problem_of(1, 2, 5, 300);
  problem.sizes.num_splits = 3;
  KernelConfig config = config_of(Family::kFa2, 16, 64);
  config.warps = 1;
  config.split_kv = true;
  const LaunchPlan plan = plan_launch(problem, config, h200());
  REQUIRE(plan.count == 2);
  CHECK(plan.num_splits == 3);
  CHECK(plan.split_tiles == 2);  // 5 key tiles over 3 splits
  CHECK(plan.launches[0].grid == 2 * 1 * 3);
  const std::size_t rows = 2 * 5;
  const std::size_t output_bytes = (rows * 3 * 128 * 4 + 255) / 256 * 256;
  CHECK(plan.workspace_bytes == output_bytes + rows * 3 * 12);

  TensorPointers pointers;
  pointers.workspace = address(0x10000);
  const AttentionParameters parameters = fill_parameters(problem, config, plan, pointers);
  CHECK(parameters.partial_output == address(0x10000));
  CHECK(parameters.partial_rows == address(0x10000 + output_bytes));
}

TEST_CASE("automatic splits fill the device but leave each split enough keys") {
  KernelConfig config = config_of(Family::kFa2, 16, 64);
  config.warps = 1;
  config.split_kv = true;
  const LaunchPlan few = plan_launch(problem_of(1, 8, 1, 32768), config, h200());
  CHECK(few.num_splits > 8);
  CHECK(few.num_splits <= 128);
  CHECK(few.num_splits * few.split_tiles >= 32768 / 64);
  CHECK((few.num_splits - 1) * few.split_tiles < 32768 / 64);
  CHECK(plan_launch(problem_of(1, 8, 1, 100), config, h200()).num_splits == 1);
  CHECK(plan_launch(problem_of(512, 8, 1, 32768), config, h200()).num_splits == 1);
  CHECK(plan_launch(problem_of(1, 8, 1, 0), config, h200()).num_splits == 1);
}

TEST_CASE("C14: a grid beyond 2^31 - 1 blocks is refused before any launch") {
  const KernelConfig config = config_of(Family::kFa2, 64, 64);
  CHECK(plan_launch(problem_of(65536, 1, 1, 1), config, h200()).launches[0].grid == 65536);
  CHECK(plan_launch(problem_of(1, 65537, 1, 1), config, h200()).launches[0].grid == 65537);
  CHECK(plan_launch(problem_of(1, 1, 64 * 65535 + 1, 16), config, h200()).launches[0].grid ==
        65536);
  CHECK_THROWS_AS(plan_launch(problem_of(1 << 16, 1 << 16, 1, 1), config, h200()), Error);
}

TEST_CASE("an empty problem launches nothing, zero keys launch") {
  const KernelConfig config = config_of(Family::kFa2, 64, 64);
  CHECK(plan_launch(problem_of(0, 3, 5, 7), config, h200()).count == 0);
  CHECK(plan_launch(problem_of(2, 3, 0, 7), config, h200()).count == 0);
  CHECK(plan_launch(problem_of(2, 3, 5, 0), config, h200()).launches[0].grid == 6);
}

TEST_CASE("the alignment class is the worst of all addresses and used strides") {
  Problem problem = problem_of(1, 2, 8, 8);
  problem.variant.head_dim = 64;
  TensorPointers pointers{address(0x100), address(0x100), address(0x100), address(0x100)};
  CHECK(alignment_class(problem, pointers) == 16);
  pointers.value = address(0x104);
  CHECK(alignment_class(problem, pointers) == 4);
  pointers.value = address(0x101);
  CHECK(alignment_class(problem, pointers) == 0);
  pointers.value = address(0x100);
  problem.sizes.key_strides = {1, 66 * 8, 66};  // 132-byte rows; one sequence: its stride is unused
  CHECK(alignment_class(problem, pointers) == 4);
  problem.sizes.key_strides = {1, 64 * 8, 64};
  CHECK(alignment_class(problem, pointers) == 16);
}

TEST_CASE("the parameters say what rounding added to the scale") {
  Problem problem = problem_of(1, 1, 64, 64);
  const KernelConfig config = config_of(Family::kFa2, 64, 64);
  const LaunchPlan plan = plan_launch(problem, config, h200());
  for (const double scale : {0.0, 0.125, 0.3, 1.0, 7.7, 1e-20, 1e20}) {
    problem.sizes.scale = scale;
    const AttentionParameters parameters = fill_parameters(problem, config, plan, {});
    const double exact = resolved_scale(problem.variant, problem.sizes) * std::numbers::log2e;
    INFO("scale " << scale);
    CHECK(std::abs(parameters.scale_log2_excess) <= 0x1p-24f);
    const double without = static_cast<double>(parameters.scale_log2) /
                           (1.0 + static_cast<double>(parameters.scale_log2_excess));
    CHECK(std::abs(without / exact - 1) < 0x1p-45);
  }
}
