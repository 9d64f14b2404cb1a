#include "tests/host/checked_sums.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "runtime/testing/element.hpp"
#include "runtime/testing/inputs.hpp"

namespace heddle {
namespace {

/// One key of each block stands out, more and more.
double spikes(int query, int visited) {
  const bool spike = visited % kBlock == query % kBlock;
  return noise(query, visited) + (spike ? 8.0 + visited / 10.0 : 0.0);
}

double one_hot(int query, int visited) {
  return visited % kColumns == query ? 16.0 : 0.0;
}

double large(int query, int visited) {
  return 24 * noise(query, visited) * noise(visited, query + 3);
}

/// Jumps across the bases that may be rounded: into what is large, or out of it.
Logit crossing(double from) {
  return [=](int query, int visited) { return from + jumping(60, 2, true)(query, visited); };
}

HostConfig compile(const Problem& problem, const KernelConfig& config) {
  return compile_for_host(checked_sum_compiler(), problem.variant, config,
                          find_architecture("sm_90a"));
}

}  // namespace

Problem checked_sum_problem(DataType dtype, MaskKind mask) {
  Problem problem;
  problem.variant.dtype = dtype;
  problem.variant.head_dim = kColumns;
  problem.variant.mask = mask;
  problem.sizes.seqlen_q = kQueries;
  problem.sizes.seqlen_kv = kKeys;
  problem.sizes.scale = 1;
  return problem;
}

KernelConfig checked_sum_config(RunningMax running_max) {
  KernelConfig config;
  config.family = Family::kFa3;
  config.tile_m = 64;
  config.tile_n = kBlock;
  config.warps = 4;
  config.running_max = running_max;
  return config;
}

HostTensors tensors_of(const Problem& problem, const Logit& logit) {
  const DataType dtype = problem.variant.dtype;
  HostTensors tensors = make_inputs(problem, InputKind::kNormal, 41);
  for (std::size_t i = 0; i < tensors.query.size(); ++i) {
    const bool is_own = i / kColumns % kColumns == i % kColumns;
    tensors.query[i] = element_from_float(dtype, is_own ? 1.0f : 0.0f);
  }
  for (int key = 0; key < kKeys; ++key) {
    for (int query = 0; query < kColumns; ++query) {
      const auto value = static_cast<float>(logit(query, kKeys - 1 - key));
      tensors.key[static_cast<std::size_t>(key * kColumns + query)] =
          element_from_float(dtype, value);
    }
  }
  return tensors;
}

double noise(int query, int visited) {
  return std::sin(12.9898 * query + 78.233 * visited + 0.37 * query * visited);
}

Logit rising(double per_block) {
  return
      [=](int query, int visited) { return noise(query, visited) + per_block * visited / kBlock; };
}

Logit jumping(double height, int every, bool for_good) {
  return [=](int query, int visited) {
    const int first = kBlock * (9 + query % 7) + query % kBlock;
    const bool jumps = query % every == 0 && (for_good ? visited >= first : visited == first);
    return noise(query, visited) + (jumps ? height : 0.0);
  };
}

const std::vector<Named>& named_logits() {
  static const std::vector<Named> all{
      {"calm", rising(0)},
      {"rising by 0.5 a block", rising(0.5)},
      {"rising by 4 a block", rising(4)},
      {"rising by 30 a block", rising(30)},
      {"rising by 120 a block", rising(120)},
      {"falling", rising(-3)},
      {"one row in 64 jumps by 100", jumping(100, 64, true)},
      {"every row jumps by 100", jumping(100, 1, true)},
      {"some rows jump by 300 for a key", jumping(300, 3, false)},
      {"some rows jump by 20", jumping(20, 3, true)},
      {"some rows jump by 86, just within fp32", jumping(86, 3, true)},
      {"some rows jump beyond what may be rounded", jumping(2000, 5, true)},
      {"some rows jump to what may not be rounded", crossing(1390)},
      {"some rows jump from what may not be rounded", crossing(-1440)},
      {"spikes", spikes},
      {"one hot", one_hot},
      {"large", large},
  };
  return all;
}

HostCompiler& checked_sum_compiler() {
  static HostCompiler instance;
  return instance;
}

HostVerdict verify_checked_sum(const Problem& problem, const HostTensors& tensors,
                               const KernelConfig& config) {
  return verify_on_host(make_host_case(problem, tensors), compile(problem, config),
                        find_architecture("sm_90a"), {3, {Landing::kLatest, Landing::kRandom}, 0});
}

HostRun run_checked_sum(const Problem& problem, const HostTensors& tensors,
                        RunningMax running_max) {
  HostRun result = run_on_host(problem, compile(problem, checked_sum_config(running_max)),
                               find_architecture("sm_90a"), tensors, {});
  REQUIRE(result.faults.empty());
  return result;
}

}  // namespace heddle
