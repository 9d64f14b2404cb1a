// fa3 with few queries: heads that share keys packed into the rows of a tile, keys split over
// blocks.
#include <catch2/catch.hpp>
#include <cstring>
#include <limits>
#include <map>

#include "runtime/host/verify.hpp"
#include "runtime/testing/element.hpp"
#include "runtime/testing/inputs.hpp"
#include "runtime/testing/layout.hpp"

namespace heddle {
namespace {

const DeviceLimits& limits() {
  static const DeviceLimits found = find_architecture("sm_90a");
  return found;
}

KernelConfig config_of(int tile_m, bool pack_gqa, bool split_kv) {
  KernelConfig config;
  config.family = Family::kFa3;
  config.tile_m = tile_m;
  config.tile_n = 32;
  config.warps = tile_m / 16;
  config.pack_gqa = pack_gqa;
  config.split_kv = split_kv;
  return config;
}

Problem problem_of(MaskKind mask, int group, int seqlen_q, int seqlen_kv) {
  Problem problem;
  problem.variant.head_dim = 64;
  problem.variant.mask = mask;
  problem.sizes.kv_heads = 2;
  problem.sizes.heads = 2 * group;
  problem.sizes.seqlen_q = seqlen_q;
  problem.sizes.seqlen_kv = seqlen_kv;
  return problem;
}

/// Each kernel is compiled once.
const HostConfig& kernels_of(const Variant& variant, const KernelConfig& config) {
  static HostCompiler compiler;
  static std::map<std::string, HostConfig> known;
  const std::string name = canonical_text(variant) + '/' + canonical_text(config);
  auto found = known.find(name);
  if (found == known.end()) {
    found = known.emplace(name, compile_for_host(compiler, variant, config, limits())).first;
  }
  return found->second;
}

HostVerdict verify(const Problem& problem, const HostTensors& tensors, const KernelConfig& config) {
  return verify_on_host(make_host_case(problem, tensors), kernels_of(problem.variant, config),
                        limits(), {.seed = 5});
}

void check(const Problem& problem, const KernelConfig& config) {
  const auto verdict = verify(problem, make_inputs(problem, InputKind::kRising, 31), config);
  INFO(full_text(problem.sizes) << ' ' << canonical_text(config));
  CHECK(verdict.explain() == "");
}

bool same_bits(const HostRun& left, const HostRun& right) {
  return left.output == right.output && left.log_sum_exp.size() == right.log_sum_exp.size() &&
         std::memcmp(left.log_sum_exp.data(), right.log_sum_exp.data(),
                     left.log_sum_exp.size() * sizeof(float)) == 0;
}

}  // namespace

TEST_CASE("fa3 packs query heads, whatever their number and that of the queries") {
  for (const MaskKind mask : {MaskKind::kFull, MaskKind::kCausal}) {
    for (const int group : {1, 4, 7, 8}) {
      for (const int seqlen_q : {1, 2, 9, 17, 64}) {
        Problem problem = problem_of(mask, group, seqlen_q, 100);
        problem.sizes.num_splits = 3;
        check(problem, config_of(64, true, true));
      }
    }
  }
}

TEST_CASE("fa3 packs without splits, over two teams, and splits without packs") {
  for (const MaskKind mask : {MaskKind::kFull, MaskKind::kCausal}) {
    check(problem_of(mask, 7, 21, 70), config_of(128, true, false));
    // More queries than keys: causal rows, tiles and splits without keys.
    check(problem_of(mask, 4, 70, 40), config_of(128, true, false));
    Problem problem = problem_of(mask, 3, 70, 40);
    problem.sizes.num_splits = 3;
    check(problem, config_of(128, false, true));
    problem.sizes.seqlen_kv = 0;
    check(problem, config_of(128, false, true));
    check(problem, config_of(64, true, true));
  }
}

TEST_CASE("fa3 packs more heads than a tile has rows in packs of about equal size") {
  for (const int group : {65, 71}) {
    Problem problem = problem_of(MaskKind::kFull, group, 2, 40);
    CHECK(plan_launch(problem, config_of(64, true, false), limits()).packed_heads ==
          (group + 1) / 2);
    check(problem, config_of(64, true, false));
  }
}

TEST_CASE("fa3 packs heads of any layout; heads that are one stay apart") {
  Problem problem = problem_of(MaskKind::kCausal, 4, 5, 50);
  for (const Layout layout : {Layout::kBatchRowHead, Layout::kEverySecondRow, Layout::kOddPitch}) {
    Problem laid_out = problem;
    laid_out.sizes.query_strides = laid_out.sizes.output_strides =
        layout_strides(layout, query_shape(problem));
    if (stride_alignment(laid_out) == 16) check(laid_out, config_of(64, true, false));
  }
  problem.sizes.query_strides = {.batch = 5 * 64, .head = 0, .row = 64};
  CHECK(plan_launch(problem, config_of(64, true, false), limits()).packed_heads == 1);
  check(problem, config_of(64, true, false));
}

TEST_CASE("fa3 walks several packed splits per block") {
  DeviceLimits small = limits();
  small.sm_count = 2;
  for (const auto scheduler : {TileScheduler::kStatic, TileScheduler::kDynamic}) {
    for (const int query_stages : {1, 2}) {
      KernelConfig config = config_of(64, true, true);
      config.scheduler = scheduler;
      config.query_stages = query_stages;
      Problem problem = problem_of(MaskKind::kCausal, 4, 35, 90);
      problem.sizes.num_splits = 3;
      const HostCase input = make_host_case(problem, make_inputs(problem, InputKind::kRising, 37));
      const auto verdict =
          verify_on_host(input, kernels_of(problem.variant, config), small,
                         {3, {Landing::kLatest, Landing::kEarliest, Landing::kRandom}, 0});
      INFO(canonical_text(config));
      CHECK(verdict.explain() == "");
    }
  }
}

TEST_CASE("fa3 keeps NaN of hidden values from packed and split rows, and shows it to the others") {
  Problem problem = problem_of(MaskKind::kCausal, 4, 20, 70);
  problem.sizes.num_splits = 3;
  HostTensors tensors = make_inputs(problem, InputKind::kNormal, 23);
  const auto nan =
      element_from_float(problem.variant.dtype, std::numeric_limits<float>::quiet_NaN());
  for (const int key : {55, 66}) {
    tensors.value[static_cast<std::size_t>(key * problem.variant.head_dim + 5)] = nan;
  }
  for (const bool pack : {false, true}) {
    for (const bool split : {false, true}) {
      const auto verdict = verify(problem, tensors, config_of(64, pack, split));
      INFO(pack << split);
      CHECK(verdict.explain() == "");
    }
  }
}

TEST_CASE("C30 a split of fa3 that sees all keys changes no bit") {
  for (const MaskKind mask : {MaskKind::kFull, MaskKind::kCausal}) {
    for (const bool pack : {false, true}) {
      Problem problem = problem_of(mask, 4, 9, 32);  // of three splits one has keys
      problem.sizes.num_splits = 3;
      const HostTensors tensors = make_inputs(problem, InputKind::kLargeLogits, 41);
      const auto whole = verify(problem, tensors, config_of(64, pack, false));
      const auto split = verify(problem, tensors, config_of(64, pack, true));
      CHECK(whole.explain() == "");
      CHECK(split.explain() == "");
      CHECK(same_bits(whole.run, split.run));
    }
  }
}

// Under a causal mask a tile of fewer queries may begin a key block earlier, and limits of the lazy
// maximum are set after the tile's first, second, fourth block: there bits may differ.
TEST_CASE("Packed rows that see all keys have the bits of rows of one head") {
  for (const auto& [mask, seqlen_q] : {std::pair{MaskKind::kFull, 20}, {MaskKind::kCausal, 1}}) {
    const Problem problem = problem_of(mask, 7, seqlen_q, 300);
    const HostTensors tensors = make_inputs(problem, InputKind::kNormal, 43);
    const auto apart = verify(problem, tensors, config_of(64, false, false));
    const auto packed = verify(problem, tensors, config_of(64, true, false));
    INFO(seqlen_q);
    CHECK(same_bits(apart.run, packed.run));
  }
}

}  // namespace heddle
