// Tiles that NaN or Inf among hidden values spoil are done again: several of them on the walk of a
// persistent block, with one slot for queries and with two.

#include <catch2/catch.hpp>
#include <limits>

#include "runtime/testing/element.hpp"
#include "runtime/testing/inputs.hpp"
#include "tests/gpu/cases/checks.hpp"

namespace heddle {
namespace {

constexpr int kLength = 300;
constexpr int kKey = 150;

/// 384 tiles: an H200 of 132 SMs has three for each.
Problem problem_of(int head_dim) {
  Problem problem;
  problem.variant.dtype = DataType::kBf16;
  problem.variant.head_dim = head_dim;
  problem.variant.mask = MaskKind::kCausal;
  problem.sizes = {
      .batch = 2, .heads = 64, .kv_heads = 32, .seqlen_q = kLength, .seqlen_kv = kLength};
  return problem;
}

std::vector<KernelConfig> ways_of(int head_dim) {
  std::vector<KernelConfig> ways;
  for (const TileScheduler scheduler :
       {TileScheduler::kTilePerBlock, TileScheduler::kStatic, TileScheduler::kDynamic}) {
    for (const int query_stages : {1, 2}) {
      if (query_stages == 2 && (head_dim > 128 || scheduler == TileScheduler::kTilePerBlock))
        continue;
      KernelConfig config{.family = Family::kFa3, .tile_m = 128, .tile_n = 64, .warps = 8};
      config.scheduler = scheduler;
      config.query_stages = query_stages;
      config.tma_store = query_stages == 2;
      config.ping_pong = config.skip_masked = true;
      ways.push_back(config);
    }
  }
  return ways;
}

/// Every third key/value head has a value that is not finite.
void spoil(HostTensors& tensors, const Problem& problem) {
  const Sizes& sizes = problem.sizes;
  for (int head = 0; head < sizes.batch * sizes.kv_heads; head += 3) {
    const auto row = static_cast<std::size_t>(head) * kLength + kKey;
    const float value = head % 2 == 0 ? std::numeric_limits<float>::quiet_NaN()
                                      : std::numeric_limits<float>::infinity();
    tensors.value[row * static_cast<std::size_t>(problem.variant.head_dim) + 7] =
        element_from_float(problem.variant.dtype, value);
  }
}

/// Of the rows before the key, which may not see it, how many differ in any bit.
int different_rows(const Problem& problem, const Outputs& left, const Outputs& right) {
  const auto columns = static_cast<std::size_t>(problem.variant.head_dim);
  int count = 0;
  for (int head = 0; head < problem.sizes.batch * problem.sizes.heads; ++head) {
    for (int query = 0; query < kKey; ++query) {
      const std::size_t row =
          static_cast<std::size_t>(head) * kLength + static_cast<std::size_t>(query);
      const auto* first = &left.output[row * columns];
      count += !std::equal(first, first + columns, &right.output[row * columns]);
    }
  }
  return count;
}

}  // namespace

TEST_CASE("C10 tiles that hidden values spoil are done again, several on a block's walk") {
  Gpu gpu;
  if (gpu.limits().architecture != "sm_90a") return;  // nothing else has fa3
  for (const int head_dim : {64, 128, 256}) {
    DYNAMIC_SECTION("head dim " << head_dim) {
      const Problem problem = problem_of(head_dim);
      const HostTensors clean = make_contiguous_inputs(problem, InputKind::kNormal, test_seed());
      HostTensors spoilt = clean;
      spoil(spoilt, problem);
      const HostReference expected = host_reference(problem, spoilt);
      for (const KernelConfig& config : ways_of(head_dim)) {
        const Kernel kernel = load_kernel(gpu, problem.variant, config);
        INFO("seed " << test_seed() << ", " << full_text(config));
        const Outputs actual = run_guarded(gpu, problem, spoilt, kernel);
        CHECK(check_all_rows(problem, expected, actual) == "");
        CHECK(different_rows(problem, actual, run_guarded(gpu, problem, clean, kernel)) == 0);
      }
    }
  }
}

}  // namespace heddle
