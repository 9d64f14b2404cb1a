// C30: split-KV where most parts own no key.

#include "tests/testing/split_parts.hpp"

#include <catch2/catch.hpp>

#include "runtime/testing/inputs.hpp"
#include "tests/gpu/cases/checks.hpp"

namespace heddle {
namespace {

constexpr Way kSplitWay{"fa2 split", Family::kFa2, true};

/// A random config that splits, and the same one unsplit.
std::vector<Kernel> load_both(Gpu& gpu, const Variant& variant) {
  const KernelConfig split = random_config(variant, gpu.limits(), kSplitWay, test_seed());
  KernelConfig whole = split;
  whole.split_kv = false;
  return load_kernels(gpu, {{variant, split}, {variant, whole}});
}

void check_problems(Gpu& gpu, const Variant& variant) {
  const std::vector<Kernel> kernels = load_both(gpu, variant);
  const KernelConfig& config = kernels[0].config;
  for (const Problem& problem : sparse_split_problems(variant)) {
    INFO(full_text(variant) << "; " << full_text(problem.sizes) << "; " << full_text(config)
                            << "; seed " << test_seed());
    REQUIRE(plan_launch(problem, config, gpu.limits()).num_splits == problem.sizes.num_splits);
    const HostTensors tensors = make_inputs(problem, InputKind::kNormal, test_seed());
    const HostReference expected = host_reference(problem, tensors);
    const Outputs split = run_guarded(gpu, problem, tensors, kernels[0]);
    const Outputs whole = run_guarded(gpu, problem, tensors, kernels[1]);
    CHECK(check_all_rows(problem, expected, split) == "");
    CHECK(check_all_rows(problem, expected, whole) == "");
    CHECK(check_beside_whole(
              problem, expected.baseline,
              {config, {split.output, split.log_sum_exp}, {whole.output, whole.log_sum_exp}}) ==
          "");
  }
}

/// The combine kernel over partial results made by hand.
Outputs merge(const Gpu& gpu, const SplitParts& parts, const Kernel& kernel) {
  const LaunchPlan plan = plan_launch(parts.problem, kernel.config, gpu.limits());
  ProblemBuffers buffers(gpu.device(), parts.problem, plan.workspace_bytes);
  const AttentionParameters parameters =
      fill_parameters(parts.problem, kernel.config, plan, buffers.pointers());
  const auto upload = [&](void* to, const auto& values) {
    gpu.check(gpu.api().cuMemcpyHtoD(device_address(to), values.data(),
                                     values.size() * sizeof(values[0])),
              "cuMemcpyHtoD");
  };
  upload(parameters.partial_output, parts.output);
  upload(parameters.partial_rows, parts.rows);
  gpu.wait_for(nullptr);
  kernel.loaded->launch(combine_alone(plan), parameters, nullptr);
  gpu.wait_for(nullptr);
  CHECK(buffers.guards_intact());
  return {buffers.output(), buffers.log_sum_exp()};
}

}  // namespace

TEST_CASE("C30 splits without keys change nothing") {
  Gpu gpu;
  for (const DataType dtype : {DataType::kBf16, DataType::kFp16}) {
    for (const MaskKind mask : {MaskKind::kFull, MaskKind::kCausal}) {
      check_problems(gpu, {.dtype = dtype, .head_dim = 128, .mask = mask});
    }
  }
}

TEST_CASE("C30 merging with parts that saw no key hands the other one through, bit for bit") {
  Gpu gpu;
  for (const DataType dtype : {DataType::kBf16, DataType::kFp16}) {
    const Variant variant{.dtype = dtype, .head_dim = 72};
    const Kernel kernel =
        load_kernel(gpu, variant, random_config(variant, gpu.limits(), kSplitWay, test_seed()));
    for (const int num_splits : {2, 8, 33, 70}) {
      const SplitParts parts = one_part_each(variant, num_splits, test_seed());
      INFO(enum_name(dtype) << ", " << num_splits << " splits, seed " << test_seed());
      const Outputs merged = merge(gpu, parts, kernel);
      CHECK(check_merged(parts, {merged.output, merged.log_sum_exp}) == "");
    }
  }
}

}  // namespace heddle
