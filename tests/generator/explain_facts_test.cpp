// What explain says of memory, blocks, warps and barriers, against the kernels it speaks of.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "generator/emit.hpp"
#include "generator/explain/explanation.hpp"
#include "generator/fragments.hpp"
#include "tests/generator/explain_problems.hpp"

namespace heddle {
namespace {

using Catch::Contains;

TEST_CASE("Items of shared memory add up to what the launch asks for") {
  const auto seed = std::random_device{}();
  for (const auto& [problem, config] : explain_cases(seed)) {
    const LaunchPlan plan = plan_launch(problem, config, explain_device());
    for (int i = 0; i < plan.count; ++i) {
      const PartLaunch& launch = plan.launches[static_cast<std::size_t>(i)];
      const auto memory = block_memory(problem.variant, config, launch.part, explain_device());
      INFO("seed " << seed << ": " << canonical_text(config) << " " << enum_name(launch.part));
      CHECK(total_bytes(memory.shared) == launch.shared_bytes);
      CHECK(total_bytes(memory.registers) <= 4 * 65536);
      for (const auto* items : {&memory.shared, &memory.registers}) {
        for (const MemoryItem& item : *items) CHECK(item.bytes > 0);
      }
    }
  }
}

TEST_CASE("The sum of shared memory is the one that the kernel's text asserts") {
  const std::pair<Family, KernelPart> parts[] = {{Family::kUnfused, KernelPart::kUnfusedScores},
                                                 {Family::kUnfused, KernelPart::kUnfusedOutput},
                                                 {Family::kFa1, KernelPart::kFa1Attention},
                                                 {Family::kFa2, KernelPart::kFa2Attention},
                                                 {Family::kFa3, KernelPart::kFa3Attention}};
  const Variant variant;
  for (const auto& [family, part] : parts) {
    KernelConfig config{.family = family};
    if (family == Family::kFa3) config.warps = config.tile_m / 16;
    const auto source = emit(variant, config, part, explain_device());
    const auto memory = block_memory(variant, config, part, explain_device());
    CHECK_THAT(source.main.text,
               Contains("kSharedBytes = " + std::to_string(total_bytes(memory.shared)) + ";"));
  }
}

TEST_CASE("Tiles in registers are as large as the layouts say") {
  const Variant variant;  // head dim 128
  const auto fa2 = fragments_of(variant, {.tile_m = 128, .tile_n = 64}, KernelPart::kFa2Attention);
  CHECK(fa2.output == 128 * 128 / 128);  // 4 warps are 128 threads
  CHECK(fa2.scores == 128 * 64 / 128);
  const KernelConfig fa3{.family = Family::kFa3, .tile_m = 128, .tile_n = 176, .warps = 8};
  const auto consumer = fragments_of(variant, fa3, KernelPart::kFa3Attention);
  CHECK(consumer.output == 64 * 128 / 128);  // a warpgroup's 64 rows over its 128 threads
  CHECK(consumer.scores == 64 * 176 / 128);
  CHECK(consumer.probabilities == consumer.scores / 2);
  // 240 registers for consumers, 24 for the producer's warpgroup: setmaxnreg's deal for two teams.
  const auto memory = block_memory(variant, fa3, KernelPart::kFa3Attention, explain_device());
  CHECK(total_bytes(memory.registers) == 4 * (256 * 240 + 128 * 24));
}

TEST_CASE("HBM holds tensors and workspace") {
  Problem problem;
  problem.sizes = {.batch = 2, .heads = 8, .kv_heads = 2, .seqlen_q = 100, .seqlen_kv = 300};
  const KernelConfig unfused{.family = Family::kUnfused};
  const auto plan = plan_launch(problem, unfused, explain_device());
  const auto items = hbm_contents(problem, unfused, plan);
  CHECK(items[0].bytes == 2 * 8 * 100 * 128 * 2);
  CHECK(items[1].bytes == 2LL * 2 * 2 * 300 * 128 * 2);
  CHECK(items[2].bytes == items[0].bytes);
  CHECK(items[3].bytes == static_cast<long long>(plan.workspace_bytes));
  CHECK(total_bytes(hbm_contents(problem, {}, plan_launch(problem, {}, explain_device()))) ==
        items[0].bytes + items[1].bytes + items[2].bytes);
}

TEST_CASE("What splits leave is output, statistics, and the gap that aligns them") {
  Problem problem;
  problem.variant.head_dim = 8;
  problem.sizes = {
      .batch = 1, .heads = 3, .kv_heads = 1, .seqlen_q = 1, .seqlen_kv = 4096, .num_splits = 3};
  const KernelConfig split{.family = Family::kFa2, .split_kv = true};
  const auto plan = plan_launch(problem, split, explain_device());
  REQUIRE(plan.num_splits == 3);
  const auto items = hbm_contents(problem, split, plan);
  REQUIRE(items.size() == 6);
  CHECK(items[3].bytes == 3 * 3 * 8 * 4);
  CHECK(items[4].bytes == 3 * 3 * 12);
  CHECK(items[5].bytes == 512 - 3 * 3 * 8 * 4);  // statistics begin at a multiple of 256
  CHECK(items[3].bytes + items[4].bytes + items[5].bytes ==
        static_cast<long long>(plan.workspace_bytes));
}

TEST_CASE("All that limits the blocks on an SM is named, and one thing is one") {
  Problem problem;
  problem.sizes = {.batch = 1, .heads = 1, .seqlen_q = 4096, .seqlen_kv = 4096};
  KernelConfig config{.family = Family::kFa3, .tile_m = 192, .tile_n = 80, .warps = 12};
  config.stages = 3;
  config.query_stages = 2;
  const GridFacts both = explain(problem, config, explain_device()).parts.front().grid;
  CHECK(both.limited_by == "shared memory and registers");
  CHECK(both.factors[1].name == "head");
  CHECK(both.factors[2].name == "query tiles");
  const KernelConfig small{.family = Family::kFa2, .tile_m = 16, .tile_n = 48, .warps = 1};
  CHECK(explain(problem, small, explain_device()).parts.front().grid.limited_by == "shared memory");
}

TEST_CASE("Factors multiply to the blocks of the grid, or to what persistent blocks walk") {
  const auto seed = std::random_device{}();
  for (const auto& [problem, config] : explain_cases(seed)) {
    const LaunchPlan plan = plan_launch(problem, config, explain_device());
    for (int i = 0; i < plan.count; ++i) {
      const PartLaunch& launch = plan.launches[static_cast<std::size_t>(i)];
      const PartWork work = count_work(problem, config, plan, i, explain_device());
      const GridFacts grid = grid_facts(problem, config, plan, launch, work, explain_device());
      INFO("seed " << seed << ": " << canonical_text(config) << " " << canonical_text(problem.sizes)
                   << " " << enum_name(launch.part));
      long long product = 1;
      for (const GridFactor& factor : grid.factors) product *= factor.count;
      CHECK(product == grid.pieces);
      CHECK(static_cast<double>(grid.pieces) == work.blocks);
      CHECK(grid.blocks == (grid.persistent ? std::min<long long>(grid.pieces, 132) : grid.pieces));
      CHECK(grid.blocks_on_sm <= grid.residency.blocks);
      CHECK(grid.occupancy > 0);
      CHECK(grid.occupancy <= 1);
      CHECK(grid.last_wave > 0);
      CHECK(grid.last_wave <= 1);
      CHECK(grid.waves * static_cast<double>(grid.slots) == Approx(grid.pieces));
    }
  }
}

TEST_CASE("Without a mask, pieces meet every key tile of every query tile once") {
  Problem problem;
  problem.sizes = {.batch = 2, .heads = 6, .kv_heads = 2, .seqlen_q = 1000, .seqlen_kv = 3000};
  const auto rounded_up = [](int value, int tile) { return (value + tile - 1) / tile; };
  for (const Family family : {Family::kFa1, Family::kFa2, Family::kFa3}) {
    KernelConfig config{.family = family};
    if (family == Family::kFa3) config.warps = config.tile_m / 16;
    const auto facts = explain(problem, config, explain_device());
    const GridFacts& grid = facts.parts.front().grid;
    CHECK(static_cast<double>(grid.pieces) * grid.mean_steps ==
          Approx(2 * 6 * rounded_up(1000, 64) * rounded_up(3000, 64)));
  }
}

TEST_CASE("Warps of the roles are those of the launch") {
  const auto seed = std::random_device{}();
  for (const auto& [problem, config] : explain_cases(seed)) {
    for (const KernelPart part : kernel_parts(config)) {
      int warps = 0;
      for (const Role& role : roles_of(problem.variant, config, part)) warps += role.warps;
      INFO("seed " << seed << ": " << canonical_text(config) << " " << enum_name(part));
      CHECK(warps * 32 == part_footprint(problem.variant, config, part).threads);
      CHECK_FALSE(exchanges_of(problem.variant, config, part).empty());
    }
  }
}

long long exchanged(const Variant& variant, const KernelConfig& config) {
  long long bytes = 0;
  for (const Exchange& each : exchanges_of(variant, config, *kernel_parts(config).begin())) {
    bytes += each.bytes;
  }
  return bytes;
}

int times(const Variant& variant, const KernelConfig& config, const std::string& name) {
  int count = 0;
  for (const Exchange& each : exchanges_of(variant, config, *kernel_parts(config).begin())) {
    if (each.name.find(name) == 0) count += each.times;
  }
  return count;
}

TEST_CASE("fa1's warps exchange at every key tile, fa2's and fa3's nothing") {
  const Variant variant;
  // 4 warps, 32 rows of 128 columns: three quarters of what each computes goes to others, fp32;
  // beside a maximum and a sum of each row from each warp.
  const KernelConfig fa1{.family = Family::kFa1, .tile_m = 32, .tile_n = 64};
  CHECK(exchanged(variant, fa1) == 32 * 128 * 4 * 3 + 2 * 32 * 4 * 4);
  // 16 column tiles of 8 are 4 for each warp: 4 rounds.
  CHECK(times(variant, fa1, "partial outputs") == 4);
  CHECK(times(variant, fa1, "maxima") == 1);
  CHECK(exchanged(variant, {}) == 0);
  CHECK(times(variant, {}, "tiles") == 1);
  CHECK(times(variant, {.stages = 1}, "tiles") == 2);
  CHECK(exchanged(variant, {.family = Family::kFa3}) == 0);
}

TEST_CASE("fa3's barriers follow its knobs and its inputs") {
  Variant variant;
  KernelConfig config{.family = Family::kFa3, .tile_m = 128, .tile_n = 128, .warps = 8};
  CHECK(times(variant, config, "turns") == 0);
  config.ping_pong = true;
  CHECK(times(variant, config, "turns") == 1);
  CHECK(times(variant, config, "store") == 0);
  config.tma_store = true;
  CHECK(times(variant, config, "store") == 1);
  CHECK(times(variant, config, "helpers") == 0);
  variant.mask = MaskKind::kCausal;
  CHECK(times(variant, config, "outputs looked at") == 1);
  KernelConfig splits = config;
  splits.split_kv = true;
  CHECK(times(variant, splits, "masked V") == 1);
  CHECK(times(variant, splits, "outputs looked at") == 0);
  CHECK(times(variant, config, "masked V") == 0);
  CHECK(times(variant, config, "helpers") == 0);
  variant.dtype = DataType::kE4m3;
  CHECK(times(variant, config, "V in rows") == 1);
  CHECK(times(variant, config, "masked V") == 0);
  variant.value_layout = ValueLayout::kTransposed;
  CHECK(times(variant, config, "V in rows") == 0);
  CHECK(times(variant, config, "masked V") == 1);
  CHECK(times(variant, config, "helpers") == 1);
  CHECK(times(variant, config, "outputs looked at") == 0);
}

}  // namespace
}  // namespace heddle
