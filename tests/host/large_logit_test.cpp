// Logits so large that fp32 rounds them to whole units: the largest probability of a row is 1 all
// the same, and nothing overflows.
#include <algorithm>
#include <catch2/catch.hpp>
#include <vector>

#include "runtime/host/verify.hpp"
#include "runtime/testing/element.hpp"
#include "runtime/testing/inputs.hpp"
#include "tests/testing/environment.hpp"

namespace heddle {
namespace {

constexpr int kQueries = 20;
constexpr int kKeys = 200;  ///< four blocks

KernelConfig config_of(Family family) {
  KernelConfig config;
  config.family = family;
  config.tile_m = config.tile_n = 64;
  config.warps = 4;
  return config;
}

KernelConfig with(KernelConfig config, RunningMax running_max) {
  config.running_max = running_max;
  return config;
}

KernelConfig through_shared_memory() {
  KernelConfig config = config_of(Family::kFa3);
  config.query_stages = 2;
  config.tma_store = true;
  return config;
}

KernelConfig in_splits(KernelConfig config, bool pack_gqa) {
  config.split_kv = true;
  config.pack_gqa = pack_gqa;
  return config;
}

Problem scaled_problem(const Variant& variant, double scale, const KernelConfig& config) {
  Problem problem;
  problem.variant = variant;
  problem.sizes.heads = config.pack_gqa ? 3 : 1;
  problem.sizes.kv_heads = 1;
  problem.sizes.seqlen_q = kQueries;
  problem.sizes.seqlen_kv = kKeys;
  problem.sizes.scale = scale;
  problem.sizes.num_splits = config.split_kv ? 3 : 0;
  return problem;
}

/// Every value 1, so that every output is the sum of the probabilities over itself.
HostTensors with_values_of_one(DataType dtype, HostTensors tensors) {
  for (std::uint16_t& bits : tensors.value) bits = element_from_float(dtype, 1.0f);
  return tensors;
}

void check(HostCompiler& compiler, const Variant& variant, const KernelConfig& config,
           const std::vector<double>& scales) {
  const DeviceLimits limits = find_architecture("sm_90a");
  const std::uint64_t seed = drawn_seed();
  const HostConfig compiled = compile_for_host(compiler, variant, config, limits);
  const std::uint16_t one = element_from_float(variant.dtype, 1.0f);
  for (const double scale : scales) {
    const Problem problem = scaled_problem(variant, scale, config);
    const HostTensors normal = make_inputs(problem, InputKind::kNormal, seed);
    INFO(full_text(variant) << "; " << full_text(config) << ", scale " << scale << ", seed "
                            << seed);
    const HostCase drawn = make_host_case(problem, normal);
    CHECK(verify_on_host(drawn, compiled, limits, {.seed = seed}).explain() == "");
    const HostCase ones = make_host_case(problem, with_values_of_one(variant.dtype, normal));
    const HostVerdict verdict = verify_on_host(ones, compiled, limits, {.seed = seed});
    CHECK(verdict.explain() == "");
    CHECK(std::all_of(verdict.run.output.begin(), verdict.run.output.end(),
                      [&](std::uint16_t bits) { return bits == one; }));
  }
}

TEST_CASE("probabilities of large logits are not above 1") {
  HostCompiler compiler;
  const KernelConfig fa2 = config_of(Family::kFa2);
  const KernelConfig fa3 = config_of(Family::kFa3);
  for (const DataType dtype : {DataType::kFp16, DataType::kBf16}) {
    const Variant variant{.dtype = dtype, .head_dim = 64};
    for (const KernelConfig& config :
         {config_of(Family::kUnfused), config_of(Family::kFa1), fa2, fa3}) {
      check(compiler, variant, config, {200.0, 1e9, 1e30});
    }
  }
}

TEST_CASE("large logits, however rows are walked and stored") {
  HostCompiler compiler;
  const Variant causal{.dtype = DataType::kFp16, .head_dim = 64, .mask = MaskKind::kCausal};
  const KernelConfig fa2 = config_of(Family::kFa2);
  const KernelConfig fa3 = config_of(Family::kFa3);
  for (const KernelConfig& config :
       {config_of(Family::kFa1), with(fa2, RunningMax::kEveryBlock), in_splits(fa2, false),
        with(fa3, RunningMax::kEveryBlock), through_shared_memory(), in_splits(fa3, false),
        in_splits(fa3, true)}) {
    check(compiler, causal, config, {200.0});
  }
}

TEST_CASE("equal keys of large logits add up exactly") {
  HostCompiler compiler;
  const Variant variant{.dtype = DataType::kFp16, .head_dim = 8};
  const DeviceLimits limits = find_architecture("sm_90a");
  const HostConfig compiled = compile_for_host(compiler, variant, config_of(Family::kFa2), limits);
  Problem problem;
  problem.variant = variant;
  problem.sizes.seqlen_q = 1;
  problem.sizes.seqlen_kv = 20000;
  problem.sizes.scale = 1e4;
  HostTensors tensors = make_inputs(problem, InputKind::kNormal, 1);
  const auto fill = [](std::vector<std::uint16_t>& elements, float value) {
    const std::uint16_t bits = element_from_float(DataType::kFp16, value);
    std::fill(elements.begin(), elements.end(), bits);
  };
  fill(tensors.key, 1.0f);
  fill(tensors.query, 1.0f);
  fill(tensors.value, 1229.0f / 4096);
  const HostCase input = make_host_case(problem, tensors);
  CHECK(verify_on_host(input, compiled, limits, {.seed = 1}).explain() == "");
}

}  // namespace
}  // namespace heddle
