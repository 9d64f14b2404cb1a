// C14: more than 65535 of anything that a grid may be made of.

#include <algorithm>

#include <catch2/catch.hpp>

#include "runtime/testing/layout.hpp"
#include "tests/gpu/cases/checks.hpp"

namespace heddle {
namespace {

constexpr unsigned kOldGridLimit = 65535;
constexpr int kRowsPerTile = 64;  ///< at most, so that the long sequence is more than 65535 tiles

struct Shape {
  const char* name;
  Sizes sizes;
};

std::vector<Shape> wide_shapes() {
  constexpr int kLongQueries = kRowsPerTile * 65535 + 1;
  return {{"B=65536", {.batch = 65536}},
          {"H=65537", {.heads = 65537}},
          {"B*H=70000", {.batch = 700, .heads = 100}},
          {"Sq=64*65535+1", {.seqlen_q = kLongQueries, .seqlen_kv = 16}},
          // Keys enough for both splits to have some.
          {"Sq=64*65535+1, Sk=200", {.seqlen_q = kLongQueries, .seqlen_kv = 200}}};
}

Problem wide_problem(const Sizes& sizes) {
  Problem problem;
  problem.variant.head_dim = 64;
  problem.sizes = sizes;
  problem.sizes.num_splits = 2;
  return problem;
}

KernelConfig wide_config(const Gpu& gpu, const Problem& problem, const Way& way) {
  return fastest_config(problem, gpu.limits(), way, kRowsPerTile);
}

bool has_wide_grid(const LaunchPlan& plan) {
  return std::any_of(plan.launches.begin(), plan.launches.begin() + plan.count,
                     [](const PartLaunch& launch) { return launch.grid > kOldGridLimit; });
}

unsigned grid_of(const LaunchPlan& plan, KernelPart part) {
  for (int i = 0; i < plan.count; ++i) {
    if (plan.launches[i].part == part) return plan.launches[i].grid;
  }
  return 0;
}

void fill_inputs(const SmallKernels& kernels, const Problem& problem,
                 const TensorPointers& pointers) {
  const std::size_t keys = key_value_shape(problem).elements();
  kernels.fill_normal(pointers.query, query_shape(problem).elements(),
                      {problem.variant.dtype, test_seed()});
  kernels.fill_normal(pointers.key, keys, {problem.variant.dtype, test_seed() + 1});
  kernels.fill_normal(pointers.value, keys, {problem.variant.dtype, test_seed() + 2});
}

void check_wide(Gpu& gpu, const SmallKernels& kernels, const Problem& problem, const Way& way) {
  const KernelConfig config = wide_config(gpu, problem, way);
  const LaunchPlan plan = plan_launch(problem, config, gpu.limits());
  INFO(full_text(config));
  // fa1 has one block a head, whatever the number of queries.
  if (way.family != Family::kFa1 || problem.sizes.seqlen_q == 1) CHECK(has_wide_grid(plan));
  if (way.split && problem.sizes.seqlen_q > 1) {
    CHECK(grid_of(plan, KernelPart::kSplitCombine) > kOldGridLimit);
  }
  const Kernel kernel = load_kernel(gpu, problem.variant, config);
  ProblemBuffers buffers(gpu.device(), problem, plan.workspace_bytes);
  fill_inputs(kernels, problem, buffers.pointers());
  enqueue(gpu, problem, kernel, buffers.pointers(), nullptr);
  gpu.wait_for(nullptr);
  CHECK(check_all_written(kernels, problem, buffers.pointers()) == "");
  CHECK(check_random_rows(gpu, problem, buffers.pointers(), {.seed = test_seed()}) == "");
  CHECK(buffers.guards_intact());
}

}  // namespace

TEST_CASE("C14 batches, heads, their product or query tiles beyond 65535") {
  Gpu gpu;
  const SmallKernels kernels(gpu);
  std::vector<KernelRequest> requests;
  for (const Shape& shape : wide_shapes()) {
    const Problem problem = wide_problem(shape.sizes);
    for (const Way& way : kWays) {
      requests.push_back({problem.variant, wide_config(gpu, problem, way)});
    }
  }
  compile_ahead(gpu, requests);
  for (const Shape& shape : wide_shapes()) {
    for (const Way& way : kWays) {
      INFO(shape.name << ", " << way.name << ", seed " << test_seed());
      check_wide(gpu, kernels, wide_problem(shape.sizes), way);
    }
  }
}

}  // namespace heddle
