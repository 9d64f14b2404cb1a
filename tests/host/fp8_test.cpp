// fa3 with e4m3 inputs: every granularity of scales, masks, ragged lengths, packed and split heads,
// under hostile schedules.
#include <catch2/catch.hpp>

#include "runtime/host/verify.hpp"
#include "runtime/testing/inputs.hpp"

namespace heddle {
namespace {

DeviceLimits small_device() {
  DeviceLimits limits = find_architecture("sm_90a");
  limits.sm_count = 2;
  return limits;
}

Problem problem_of(MaskKind mask, ScaleKind scales, int seqlen_q, int seqlen_kv) {
  Problem problem;
  problem.variant.dtype = DataType::kE4m3;
  problem.variant.head_dim = 64;
  problem.variant.mask = mask;
  problem.variant.scales = scales;
  problem.variant.value_layout = ValueLayout::kTransposed;
  problem.sizes.heads = 2;
  problem.sizes.kv_heads = 1;
  problem.sizes.seqlen_q = seqlen_q;
  problem.sizes.seqlen_kv = seqlen_kv;
  return problem;
}

KernelConfig config_of(int tile_m, int tile_n) {
  KernelConfig config;
  config.family = Family::kFa3;
  config.tile_m = tile_m;
  config.tile_n = tile_n;
  config.warps = tile_m / 16;
  config.query_stages = 2;
  config.scheduler = TileScheduler::kStatic;
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

TEST_CASE("fa3 takes e4m3 inputs with scales of every granularity") {
  for (const MaskKind mask : {MaskKind::kFull, MaskKind::kCausal}) {
    for (const ScaleKind scales :
         {ScaleKind::kTensor, ScaleKind::kHead, ScaleKind::kBlock, ScaleKind::kToken}) {
      const Problem problem = problem_of(mask, scales, 200, 300);
      const auto verdict =
          verify(problem, make_inputs(problem, InputKind::kNormal, 11), config_of(128, 64));
      INFO(enum_name(mask) << ' ' << enum_name(scales) << ": " << verdict.explain());
      CHECK(verdict.passed());
    }
  }
}

TEST_CASE("fa3 takes e4m3 inputs of any length and every kind of tile") {
  struct Row {
    int head_dim, tile_m, tile_n, seqlen_q, seqlen_kv;
  };
  for (const Row& row :
       {Row{32, 64, 32, 70, 33}, Row{96, 192, 96, 130, 200}, Row{128, 128, 128, 65, 1},
        Row{192, 128, 64, 129, 257}, Row{256, 64, 128, 7, 127}, Row{64, 256, 64, 257, 64},
        Row{64, 64, 160, 17, 500}}) {
    for (const MaskKind mask : {MaskKind::kFull, MaskKind::kCausal}) {
      Problem problem = problem_of(mask, ScaleKind::kHead, row.seqlen_q, row.seqlen_kv);
      problem.variant.head_dim = row.head_dim;
      problem.variant.output_dtype = DataType::kFp16;
      const auto verdict = verify(problem, make_inputs(problem, InputKind::kLargeLogits, 13),
                                  config_of(row.tile_m, row.tile_n));
      INFO(enum_name(mask) << " head_dim " << row.head_dim << " tile " << row.tile_m << " x "
                           << row.tile_n << ": " << verdict.explain());
      CHECK(verdict.passed());
    }
  }
}

TEST_CASE("fa3 splits keys and packs heads of e4m3 inputs") {
  for (const ScaleKind scales : {ScaleKind::kHead, ScaleKind::kBlock, ScaleKind::kToken}) {
    for (const bool packs : {false, true}) {
      for (const int splits : {1, 3}) {
        Problem problem = problem_of(MaskKind::kCausal, scales, 20, 400);
        problem.sizes.heads = 6;
        problem.sizes.kv_heads = 2;
        problem.sizes.num_splits = splits;
        KernelConfig config = config_of(64, 64);
        config.split_kv = true;
        config.pack_gqa = packs;
        const auto verdict = verify(problem, make_inputs(problem, InputKind::kRising, 17), config);
        INFO(enum_name(scales) << ' ' << packs << ' ' << splits << ": " << verdict.explain());
        CHECK(verdict.passed());
      }
    }
  }
}

}  // namespace heddle
