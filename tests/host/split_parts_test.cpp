// C30 on the CPU: the real attention and combine kernels where splits own no key.
#include "tests/testing/split_parts.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "runtime/host/verify.hpp"
#include "runtime/testing/inputs.hpp"
#include "tests/testing/environment.hpp"

namespace heddle {
namespace {

const DeviceLimits& limits() {
  static const DeviceLimits found = find_architecture("sm_90a");
  return found;
}

Variant small_variant(MaskKind mask) {
  return {.dtype = DataType::kBf16, .head_dim = 32, .mask = mask};
}

KernelConfig config_with(bool split) {
  KernelConfig config;
  config.tile_m = 16;
  config.tile_n = 128;
  config.warps = 1;
  config.split_kv = split;
  return config;
}

void check_problems(const Variant& variant, const std::vector<Problem>& problems,
                    std::uint64_t seed) {
  HostCompiler compiler;
  const HostConfig split = compile_for_host(compiler, variant, config_with(true), limits());
  const HostConfig whole = compile_for_host(compiler, variant, config_with(false), limits());
  for (const Problem& problem : problems) {
    INFO(full_text(problem.sizes) << ", seed " << seed);
    REQUIRE(plan_launch(problem, split.config, limits()).num_splits == problem.sizes.num_splits);
    const HostCase input = make_host_case(problem, make_inputs(problem, InputKind::kNormal, seed));
    const HostVerdict parts = verify_on_host(input, split, limits(), {.seed = seed});
    CHECK(parts.explain() == "");
    const HostVerdict one = verify_on_host(input, whole, limits(), {.seed = seed});
    CHECK(one.explain() == "");
    CHECK(check_beside_whole(problem, input.baseline,
                             {split.config,
                              {parts.run.output, parts.run.log_sum_exp},
                              {one.run.output, one.run.log_sum_exp}}) == "");
  }
}

/// Runs the combine kernel over partial results made by hand.
void check_merge(const SplitParts& parts, const HostConfig& compiled) {
  const LaunchPlan plan = plan_launch(parts.problem, compiled.config, limits());
  std::vector<float> workspace(plan.workspace_bytes / sizeof(float));
  std::vector<std::uint16_t> output(parts.merged_output.size(), 0xffff);
  std::vector<float> log_sum_exp(parts.merged_log_sum_exp.size());
  const AttentionParameters parameters = fill_parameters(
      parts.problem, compiled.config, plan,
      {.output = output.data(), .log_sum_exp = log_sum_exp.data(), .workspace = workspace.data()});
  std::copy(parts.output.begin(), parts.output.end(), parameters.partial_output);
  std::copy(parts.rows.begin(), parts.rows.end(), parameters.partial_rows);

  const PartLaunch launch = combine_alone(plan).launches[0];
  const HostKernel& kernel = *compiled.parts[1];
  MemoryMap map({{reinterpret_cast<unsigned char*>(output.data()), 2 * output.size(), "O",
                  BufferAccess::kReadWrite},
                 {reinterpret_cast<unsigned char*>(log_sum_exp.data()), 4 * log_sum_exp.size(),
                  "LSE", BufferAccess::kReadWrite},
                 {reinterpret_cast<unsigned char*>(workspace.data()), plan.workspace_bytes,
                  "the workspace", BufferAccess::kRead}});
  map.add_image(reinterpret_cast<const void*>(kernel.entry()));
  const auto faults = launch_on_host({launch.grid, {launch.threads, launch.shared_bytes, 0}}, map,
                                     {[&] { kernel.entry()(parameters); },
                                      [&](const host::ThreadState* state) { kernel.enter(state); }},
                                     {});
  CHECK(faults.empty());
  CHECK(check_merged(parts, {output, log_sum_exp}) == "");
}

TEST_CASE("C30 splits without keys change nothing, every key visible") {
  const Variant variant = small_variant(MaskKind::kFull);
  check_problems(variant, sparse_split_problems(variant), drawn_seed());
}

TEST_CASE("C30 splits without keys change nothing, causal") {
  const Variant variant = small_variant(MaskKind::kCausal);
  check_problems(variant, sparse_split_problems(variant), drawn_seed());
}

TEST_CASE("C30 splits without keys change nothing, large logits") {
  // Of a hundred scores the largest is not one of those that cancellation leaves near 0.
  Problem problem = sparse_split_problems(small_variant(MaskKind::kFull)).front();
  problem.sizes.seqlen_kv = 100;
  problem.sizes.scale = 1000;
  check_problems(problem.variant, {problem}, drawn_seed());
}

TEST_CASE("C30 merging with parts that saw no key hands the other one through, bit for bit") {
  HostCompiler compiler;
  const Variant variant = small_variant(MaskKind::kFull);
  const HostConfig compiled = compile_for_host(compiler, variant, config_with(true), limits());
  const std::uint64_t seed = drawn_seed();
  for (const int num_splits : {2, 8, 33}) {
    INFO(num_splits << " splits, seed " << seed);
    check_merge(one_part_each(variant, num_splits, seed), compiled);
  }
}

}  // namespace
}  // namespace heddle
