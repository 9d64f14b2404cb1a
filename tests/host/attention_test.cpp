// Each family, small, through the host engine.
#include <catch2/catch.hpp>
#include <chrono>
#include <iostream>

#include "generator/architecture.hpp"
#include "generator/candidates.hpp"
#include "runtime/host/attention.hpp"
#include "runtime/testing/compare.hpp"
#include "runtime/testing/inputs.hpp"

namespace heddle {
namespace {

void check_config(HostCompiler& compiler, const Problem& problem, const KernelConfig& config) {
  const DeviceLimits limits = find_architecture("sm_90a");
  const auto begin = std::chrono::steady_clock::now();
  const HostConfig kernels = compile_for_host(compiler, problem.variant, config, limits);
  const auto middle = std::chrono::steady_clock::now();
  const HostTensors tensors = make_inputs(problem, InputKind::kNormal, 7);
  const HostRun run = run_on_host(problem, kernels, limits, tensors, {});
  const auto end = std::chrono::steady_clock::now();
  std::cout << std::chrono::duration<double>(middle - begin).count() << " s compile, "
            << std::chrono::duration<double>(end - middle).count()
            << " s run: " << canonical_text(config) << '\n';
  for (const HostFault& fault : run.faults) std::cout << fault.describe() << '\n';
  CHECK(run.faults.empty());
  const auto reference = reference_attention(problem, tensors, ReferenceMode::kFloat64);
  const auto baseline = reference_attention(problem, tensors, ReferenceMode::kBaseline);
  const Comparison result = compare(problem, reference, baseline, run.output, run.log_sum_exp);
  INFO(result.explanation);
  CHECK(result.record.passed);
}

TEST_CASE("every family") {
  HostCompiler compiler;
  Problem problem;
  problem.sizes.batch = 1;
  problem.sizes.heads = 4;
  problem.sizes.kv_heads = 2;
  problem.sizes.seqlen_q = 77;
  problem.sizes.seqlen_kv = 133;
  problem.variant.head_dim = 64;
  problem.variant.mask = MaskKind::kCausal;
  for (const Family family : {Family::kUnfused, Family::kFa1, Family::kFa2}) {
    const auto candidates =
        enumerate_candidates(problem.variant, find_architecture("sm_90a"), family);
    for (std::size_t i = 0; i < candidates.size(); i += candidates.size() / 4) {
      Problem asked = problem;
      if (candidates[i].split_kv) asked.sizes.num_splits = 3;
      check_config(compiler, asked, candidates[i]);
    }
  }
}

}  // namespace
}  // namespace heddle
