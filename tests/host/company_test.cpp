// What a row's bits may not depend on: the sequences beside it, and how many blocks the device runs
// at a time.
#include <catch2/catch.hpp>
#include <cstring>

#include "runtime/host/attention.hpp"
#include "runtime/testing/inputs.hpp"

namespace heddle {
namespace {

Problem problem_of(int batch, int splits) {
  Problem problem;
  problem.variant.dtype = DataType::kBf16;
  problem.variant.head_dim = 64;
  problem.variant.mask = MaskKind::kCausal;
  problem.sizes = {.batch = batch,
                   .heads = 2,
                   .kv_heads = 1,
                   .seqlen_q = 70,
                   .seqlen_kv = 150,
                   .num_splits = splits};
  return problem;
}

KernelConfig fa3_config(TileScheduler scheduler, bool splits) {
  KernelConfig config{.family = Family::kFa3, .tile_m = 64, .tile_n = 64, .warps = 4};
  config.scheduler = scheduler;
  config.split_kv = splits;
  return config;
}

DeviceLimits device_of(int multiprocessors) {
  DeviceLimits limits = find_architecture("sm_90a");
  limits.sm_count = multiprocessors;
  return limits;
}

/// On one core: a block runs when the one before it has ended, so that one that waits for others
/// which have not begun is reported as a deadlock.
HostRun run(const Problem& problem, const HostTensors& tensors, const KernelConfig& config,
            int multiprocessors) {
  static HostCompiler compiler;
  const DeviceLimits limits = device_of(multiprocessors);
  const HostConfig kernels = compile_for_host(compiler, problem.variant, config, limits);
  HostRun run = run_on_host(problem, kernels, limits, tensors, {{1, Landing::kLatest}, 1});
  for (const HostFault& fault : run.faults) FAIL(fault.describe());
  return run;
}

/// The first `count` of each.
template <class Value>
bool begin_alike(const std::vector<Value>& left, const std::vector<Value>& right,
                 std::size_t count) {
  REQUIRE(left.size() >= count);
  REQUIRE(right.size() >= count);
  return std::memcmp(left.data(), right.data(), count * sizeof(Value)) == 0;
}

/// Whether the sequences of the shorter batch are alike in both.
bool begin_alike(const HostRun& left, const HostRun& right) {
  return begin_alike(left.output, right.output,
                     std::min(left.output.size(), right.output.size())) &&
         begin_alike(left.log_sum_exp, right.log_sum_exp,
                     std::min(left.log_sum_exp.size(), right.log_sum_exp.size()));
}

struct NamedConfig {
  KernelConfig config;
  bool splits;
};

std::vector<NamedConfig> every_way() {
  std::vector<NamedConfig> ways;
  for (const bool splits : {false, true}) {
    ways.push_back({{.tile_m = 64, .tile_n = 32, .warps = 4, .split_kv = splits}, splits});
    for (const auto scheduler :
         {TileScheduler::kTilePerBlock, TileScheduler::kStatic, TileScheduler::kDynamic}) {
      ways.push_back({fa3_config(scheduler, splits), splits});
    }
  }
  return ways;
}

}  // namespace

TEST_CASE("C79 a sequence's bits are the same alone and in company, of one config and split") {
  for (const auto& [config, splits] : every_way()) {
    INFO(full_text(config));
    const Problem alone = problem_of(1, splits ? 3 : 0);
    const Problem company = problem_of(3, splits ? 3 : 0);
    const HostTensors tensors = make_inputs(company, InputKind::kRising, 41);
    CHECK(begin_alike(run(alone, tensors, config, 2), run(company, tensors, config, 2)));
  }
}

TEST_CASE(
    "C96 blocks that run one after the other, few or more than there are SMs, change no bit") {
  for (const auto& [config, splits] : every_way()) {
    INFO(full_text(config));
    const Problem problem = problem_of(2, splits ? 3 : 0);
    const HostTensors tensors = make_inputs(problem, InputKind::kRising, 43);
    const HostRun one = run(problem, tensors, config, 1);
    CHECK(one.tile_counter == 0);
    for (const int multiprocessors : {5, 264}) {
      const HostRun more = run(problem, tensors, config, multiprocessors);
      CHECK(begin_alike(one, more));
      CHECK(more.tile_counter == 0);
    }
  }
}

TEST_CASE("Tiles with no, one, two and more key blocks are each drawn once") {
  // Tiles 0 to 2 see no key; then there are 1, 2, 3 and 4 blocks of 64 keys.
  for (const bool splits : {false, true}) {
    Problem problem = problem_of(1, splits ? 2 : 0);
    problem.sizes.seqlen_q = 400;
    problem.sizes.seqlen_kv = 200;
    const HostTensors tensors = make_inputs(problem, InputKind::kRising, 47);
    const HostRun each =
        run(problem, tensors, fa3_config(TileScheduler::kTilePerBlock, splits), 132);
    for (const auto scheduler : {TileScheduler::kStatic, TileScheduler::kDynamic}) {
      for (const int multiprocessors : {1, 3}) {
        INFO(enum_name(scheduler) << ", splits " << splits << ", SMs " << multiprocessors);
        const HostRun drawn = run(problem, tensors, fa3_config(scheduler, splits), multiprocessors);
        CHECK(begin_alike(each, drawn));
        CHECK(drawn.tile_counter == 0);
      }
    }
  }
}

}  // namespace heddle
