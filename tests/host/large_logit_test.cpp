// Logits so large that fp32 rounds them to whole units: the largest probability of a row is 1 all
// the same, and nothing overflows.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <random>

#include "runtime/host/verify.hpp"
#include "runtime/testing/element.hpp"
#include "runtime/testing/inputs.hpp"

namespace heddle {
namespace {

constexpr int kQueries = 20;
constexpr int kKeys = 200;  ///< four blocks

struct Way {
  Family family;
  RunningMax running_max;
  bool split_kv;
};

KernelConfig config_of(const Way& way) {
  KernelConfig config;
  config.family = way.family;
  config.tile_m = config.tile_n = 64;
  config.warps = 4;
  config.running_max = way.running_max;
  config.split_kv = way.split_kv;
  return config;
}

Problem scaled_problem(DataType dtype, double scale, const Way& way) {
  Problem problem;
  problem.variant.dtype = dtype;
  problem.variant.head_dim = 64;
  problem.sizes.seqlen_q = kQueries;
  problem.sizes.seqlen_kv = kKeys;
  problem.sizes.scale = scale;
  problem.sizes.num_splits = way.split_kv ? 3 : 0;
  return problem;
}

/// Every value 1, so that every output is the sum of the probabilities over itself.
HostTensors with_values_of_one(DataType dtype, HostTensors tensors) {
  for (std::uint16_t& bits : tensors.value) bits = element_from_float(dtype, 1.0f);
  return tensors;
}

std::uint64_t drawn_seed() {
  const char* text = std::getenv("HEDDLE_SEED");
  return text == nullptr ? std::random_device{}() : std::strtoull(text, nullptr, 10);
}

void check(HostCompiler& compiler, DataType dtype, const Way& way) {
  const DeviceLimits limits = find_architecture("sm_90a");
  const std::uint64_t seed = drawn_seed();
  for (const double scale : {200.0, 1e9, 1e30}) {
    const Problem problem = scaled_problem(dtype, scale, way);
    const HostConfig compiled = compile_for_host(compiler, problem.variant, config_of(way), limits);
    const HostTensors normal = make_inputs(problem, InputKind::kNormal, seed);
    INFO(enum_name(dtype) << " " << full_text(compiled.config) << ", scale " << scale << ", seed "
                          << seed);
    const HostCase drawn = make_host_case(problem, normal);
    CHECK(verify_on_host(drawn, compiled, limits, {.seed = seed}).explain() == "");
    const HostCase ones = make_host_case(problem, with_values_of_one(dtype, normal));
    const HostVerdict verdict = verify_on_host(ones, compiled, limits, {.seed = seed});
    CHECK(verdict.explain() == "");
    const std::uint16_t one = element_from_float(dtype, 1.0f);
    CHECK(std::all_of(verdict.run.output.begin(), verdict.run.output.end(),
                      [&](std::uint16_t bits) { return bits == one; }));
  }
}

TEST_CASE("probabilities of large logits are not above 1") {
  HostCompiler compiler;
  for (const DataType dtype : {DataType::kFp16, DataType::kBf16}) {
    for (const RunningMax running_max : {RunningMax::kLazy, RunningMax::kEveryBlock}) {
      for (const Family family : {Family::kFa2, Family::kFa3}) {
        check(compiler, dtype, {family, running_max, false});
      }
    }
    check(compiler, dtype, {Family::kFa2, RunningMax::kLazy, true});
    check(compiler, dtype, {Family::kFa1, RunningMax::kLazy, false});
    check(compiler, dtype, {Family::kUnfused, RunningMax::kLazy, false});
  }
}

}  // namespace
}  // namespace heddle
