// What fa3 has and small problems on a large device do not reach: blocks that walk several query
// tiles, under every landing; NaN in values that causal rows may not see.
#include <catch2/catch.hpp>
#include <limits>

#include "runtime/host/verify.hpp"
#include "runtime/testing/element.hpp"
#include "runtime/testing/inputs.hpp"

namespace heddle {
namespace {

constexpr TileScheduler kWalks[] = {TileScheduler::kStatic, TileScheduler::kDynamic};
constexpr TileScheduler kSchedulers[] = {TileScheduler::kTilePerBlock, TileScheduler::kStatic,
                                         TileScheduler::kDynamic};

/// A device of two SMs: a persistent grid then has two blocks.
DeviceLimits small_device() {
  DeviceLimits limits = find_architecture("sm_90a");
  limits.sm_count = 2;
  return limits;
}

Problem problem_of(MaskKind mask, int seqlen_q, int seqlen_kv) {
  Problem problem;
  problem.variant.head_dim = 64;
  problem.variant.mask = mask;
  problem.sizes.heads = 3;
  problem.sizes.kv_heads = 1;
  problem.sizes.seqlen_q = seqlen_q;
  problem.sizes.seqlen_kv = seqlen_kv;
  return problem;
}

KernelConfig config_of(MaskKind mask, int query_stages, TileScheduler scheduler) {
  KernelConfig config;
  config.family = Family::kFa3;
  config.tile_m = 128;
  config.tile_n = 64;
  config.warps = 8;
  config.query_stages = query_stages;
  config.scheduler = scheduler;
  config.tma_store = config.ping_pong = query_stages == 2;
  config.skip_masked = mask == MaskKind::kCausal && config.ping_pong;
  return config;
}

HostVerdict verify(const Problem& problem, const HostTensors& tensors, const KernelConfig& config) {
  static HostCompiler compiler;
  const DeviceLimits limits = small_device();
  const HostConfig kernels = compile_for_host(compiler, problem.variant, config, limits);
  return verify_on_host(make_host_case(problem, tensors), kernels, limits,
                        {3, {Landing::kLatest, Landing::kEarliest, Landing::kRandom}, 0});
}

}  // namespace

TEST_CASE("fa3 walks several tiles per block, whatever lands when") {
  for (const MaskKind mask : {MaskKind::kFull, MaskKind::kCausal}) {
    for (const TileScheduler scheduler : kWalks) {
      for (const int query_stages : {1, 2}) {
        // 3 heads of 3 tiles over two blocks; more queries than keys leave causal tiles without
        // keys.
        for (const auto& [seqlen_q, seqlen_kv] : {std::pair{300, 200}, std::pair{257, 330}}) {
          const Problem problem = problem_of(mask, seqlen_q, seqlen_kv);
          const auto verdict = verify(problem, make_inputs(problem, InputKind::kRising, 17),
                                      config_of(mask, query_stages, scheduler));
          INFO(enum_name(mask) << ' ' << enum_name(scheduler) << ' ' << query_stages << ' '
                               << seqlen_q << ' ' << seqlen_kv << ": " << verdict.explain());
          CHECK(verdict.passed());
        }
      }
    }
  }
}

TEST_CASE("fa3 without overlap or a producer walks several tiles per block too") {
  for (const Overlap overlap : {Overlap::kNone, Overlap::kIntraWarpgroup}) {
    for (const bool producer : {true, false}) {
      if (producer && overlap == Overlap::kIntraWarpgroup) continue;
      for (const int query_stages : {1, 2}) {
        for (const int stages : {1, 2, 3}) {
          const Problem problem = problem_of(MaskKind::kFull, 300, 200 + 100 * query_stages);
          KernelConfig config = config_of(MaskKind::kFull, query_stages, TileScheduler::kStatic);
          config.overlap = overlap;
          config.warp_specialized = producer;
          config.stages = stages;
          const auto verdict =
              verify(problem, make_inputs(problem, InputKind::kRising, 19), config);
          INFO(enum_name(overlap) << ' ' << producer << ' ' << query_stages << ' ' << stages << ": "
                                  << verdict.explain());
          CHECK(verdict.passed());
        }
      }
    }
  }
}

TEST_CASE("fa3 keeps NaN of hidden values from causal rows, and shows it to the others") {
  const Problem problem = problem_of(MaskKind::kCausal, 200, 200);
  HostTensors tensors = make_inputs(problem, InputKind::kNormal, 23);
  const auto nan =
      element_from_float(problem.variant.dtype, std::numeric_limits<float>::quiet_NaN());
  constexpr int kKey = 150, kColumn = 5;
  tensors.value[static_cast<std::size_t>(kKey * problem.variant.head_dim + kColumn)] = nan;
  for (const TileScheduler scheduler : kSchedulers) {
    const auto verdict = verify(problem, tensors, config_of(MaskKind::kCausal, 1, scheduler));
    INFO(verdict.explain());
    CHECK(verdict.passed());
  }
}

TEST_CASE("fa3 reads keys and values that all heads or all sequences share by stride 0") {
  Problem problem = problem_of(MaskKind::kFull, 130, 100);
  problem.sizes.batch = problem.sizes.kv_heads = 2;
  problem.sizes.heads = 4;
  const long long row = problem.variant.head_dim;
  problem.sizes.key_strides = {.batch = 100 * row, .head = 0, .row = row};
  problem.sizes.value_strides = {.batch = 0, .head = 100 * row, .row = row};
  const auto verdict = verify(problem, make_inputs(problem, InputKind::kNormal, 29),
                              config_of(MaskKind::kFull, 1, TileScheduler::kTilePerBlock));
  INFO(verdict.explain());
  CHECK(verdict.passed());
}

}  // namespace heddle
