// The lazy running maximum: a key that outweighs its row's others is as exact as with the exact
// maximum, and a light one moves nothing.
#include <catch2/catch.hpp>
#include <cmath>

#include "runtime/host/verify.hpp"
#include "runtime/testing/element.hpp"
#include "runtime/testing/layout.hpp"

namespace heddle {
namespace {

constexpr int kQueries = 64;
constexpr int kKeys = 320;  ///< five blocks
constexpr int kBlock = 64;

/// The leading 1 included.
constexpr int significand_bits(DataType dtype) {
  return dtype == DataType::kFp16 ? 11 : 8;
}

Problem one_head(DataType dtype) {
  Problem problem;
  problem.variant.dtype = dtype;
  problem.variant.head_dim = 64;
  problem.sizes.seqlen_q = kQueries;
  problem.sizes.seqlen_kv = kKeys;
  problem.sizes.scale = 1;
  return problem;
}

KernelConfig config_of(Family family, RunningMax running_max) {
  KernelConfig config;
  config.family = family;
  config.tile_m = config.tile_n = kBlock;
  config.warps = 4;
  config.stages = 2;
  config.running_max = running_max;
  return config;
}

/// Exact in fp16 and bf16, another one for each query.
double logit_of(int query, double least) {
  return least + query / 32.0;
}

/// Logit 0 and value 0 but for key `heavy`, whose value is 1.
HostTensors one_heavy_key(const Problem& problem, int heavy, double least) {
  const DataType dtype = problem.variant.dtype;
  const auto columns = static_cast<std::size_t>(problem.variant.head_dim);
  const auto zero = element_from_float(dtype, 0.0f);
  HostTensors tensors;
  tensors.query.assign(kQueries * columns, zero);
  tensors.key.assign(kKeys * columns, zero);
  tensors.value.assign(kKeys * columns, zero);
  for (std::size_t query = 0; query < kQueries; ++query) {
    const double logit = logit_of(static_cast<int>(query), least);
    tensors.query[query * columns] = element_from_float(dtype, static_cast<float>(logit));
  }
  const auto row = static_cast<std::size_t>(heavy) * columns;
  tensors.key[row] = element_from_float(dtype, 1.0f);
  for (std::size_t column = 0; column < columns; ++column) {
    tensors.value[row + column] = element_from_float(dtype, 1.0f);
  }
  return tensors;
}

HostRun run(const Problem& problem, const KernelConfig& config, const HostTensors& tensors) {
  static HostCompiler compiler;
  const DeviceLimits limits = find_architecture("sm_90a");
  const HostConfig kernels = compile_for_host(compiler, problem.variant, config, limits);
  HostRun result = run_on_host(problem, kernels, limits, tensors, {});
  REQUIRE(result.faults.empty());
  return result;
}

/// Where the key belongs to the block that the family visits last.
int last_visited(Family family) {
  return family == Family::kFa3 ? 5 : kKeys - 5;
}

}  // namespace

TEST_CASE("a late key that outweighs an eighth of its row is not rounded") {
  constexpr double kLeast = 3.5;  // e^3.5 = 33 beside the 256 keys before
  for (const Family family : {Family::kFa2, Family::kFa3}) {
    for (const DataType dtype : {DataType::kBf16, DataType::kFp16}) {
      const Problem problem = one_head(dtype);
      const HostTensors tensors = one_heavy_key(problem, last_visited(family), kLeast);
      const HostRun actual = run(problem, config_of(family, RunningMax::kLazy), tensors);
      for (int query = 0; query < kQueries; ++query) {
        const double weight = std::exp(logit_of(query, kLeast));
        const double expected = weight / (weight + kKeys - 1);
        // Half a unit in the last place of the element, and what fp32 adds.
        const double half_unit =
            std::ldexp(0.5, std::ilogb(expected) + 1 - significand_bits(dtype));
        const auto first = static_cast<std::size_t>(query) * 64;
        const double output = element_to_float(dtype, actual.output[first]);
        INFO(enum_name(family) << ", " << enum_name(dtype) << ", query " << query);
        CHECK(std::abs(output - expected) <= half_unit + 1e-6 * expected);
      }
    }
  }
}

TEST_CASE("a late key that weighs little does not move the reference") {
  constexpr double kLeast = 1.0;  // the heaviest is e^2.97 = 19 beside the 256 keys before
  for (const Family family : {Family::kFa2, Family::kFa3}) {
    const Problem problem = one_head(DataType::kBf16);
    const HostTensors tensors = one_heavy_key(problem, last_visited(family), kLeast);
    const HostRun lazy = run(problem, config_of(family, RunningMax::kLazy), tensors);
    const HostRun exact = run(problem, config_of(family, RunningMax::kEveryBlock), tensors);
    INFO(enum_name(family));
    // Its probability is rounded, relative to the old reference: some results tell.
    CHECK(lazy.output != exact.output);
  }
}

}  // namespace heddle
