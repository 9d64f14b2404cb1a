// Barriers that explain counts, beside those that kernels come to.
#include <algorithm>
#include <catch2/catch.hpp>

#include "generator/explain/warp_roles.hpp"
#include "generator/work_cut.hpp"
#include "runtime/host/attention.hpp"
#include "runtime/testing/inputs.hpp"

namespace heddle {
namespace {

const DeviceLimits& device() {
  return find_architecture("sm_90a");
}

Problem problem_of(DataType dtype, int seqlen_q, int seqlen_kv) {
  Problem problem;
  problem.variant.dtype = dtype;
  problem.variant.head_dim = 64;
  problem.sizes = {.batch = 1, .heads = 2, .seqlen_q = seqlen_q, .seqlen_kv = seqlen_kv};
  return problem;
}

/// Hardware barriers that all blocks of a run came to and left.
long long count(const HostConfig& kernels, const Problem& problem) {
  const HostTensors tensors = make_inputs(problem, InputKind::kNormal, 5);
  const HostRun run = run_on_host(problem, kernels, device(), tensors, {});
  REQUIRE(run.faults.empty());
  long long total = 0;
  for (const auto& [id, times] : run.barriers) total += times;
  return total;
}

/// What explain says that one key tile, or one query tile, comes to.
long long predicted(const Problem& problem, const KernelConfig& config, Period period) {
  long long total = 0;
  for (const KernelPart part : kernel_parts(config)) {
    for (const Exchange& exchange : exchanges_of(problem.variant, config, part)) {
      const bool hardware =
          exchange.kind == BarrierKind::kBlock || exchange.kind == BarrierKind::kNamed;
      const bool happens = exchange.name != "vote";  // no tile is cut here
      if (hardware && happens && exchange.period == period) {
        total += exchange.times * exchange.groups;
      }
    }
  }
  return total;
}

/// Two lengths whose difference is whole tiles tell what a tile costs, whatever else a block does.
void check_key_tiles(DataType dtype, const KernelConfig& config) {
  HostCompiler compiler;
  const int tile = config.tile_n;
  const Problem one = problem_of(dtype, config.tile_m, 2 * tile);
  const Problem more = problem_of(dtype, config.tile_m, 5 * tile);
  const HostConfig kernels = compile_for_host(compiler, one.variant, config, device());
  INFO(canonical_text(config));
  CHECK(count(kernels, more) - count(kernels, one) ==
        2 * 3 * predicted(one, config, Period::kKeyTile));  // two heads, three tiles more
}

TEST_CASE("Barriers of a key tile are those that explain counts: sm_80 families") {
  for (const int stages : {1, 2}) {
    check_key_tiles(DataType::kBf16, {.family = Family::kUnfused, .stages = stages});
    check_key_tiles(DataType::kBf16, {.family = Family::kFa1, .stages = stages});
    check_key_tiles(DataType::kBf16, {.family = Family::kFa2, .stages = stages});
  }
  check_key_tiles(DataType::kBf16, {.family = Family::kFa1, .tile_m = 128, .warps = 8});
  check_key_tiles(DataType::kBf16, {.family = Family::kFa1, .tile_m = 32, .warps = 2});
  check_key_tiles(DataType::kBf16, {.family = Family::kFa2, .query_in_registers = true});
}

TEST_CASE("Barriers of a key tile are those that explain counts: fa3") {
  KernelConfig config{.family = Family::kFa3, .tile_m = 128, .tile_n = 64, .warps = 8};
  check_key_tiles(DataType::kBf16, config);
  check_key_tiles(DataType::kE4m3, config);
  config.ping_pong = true;
  check_key_tiles(DataType::kBf16, config);
  config.warp_specialized = false;
  config.overlap = Overlap::kNone;
  check_key_tiles(DataType::kBf16, config);
}

TEST_CASE("Barriers of a query tile are those that explain counts") {
  HostCompiler compiler;
  KernelConfig fa3{.family = Family::kFa3, .tile_m = 128, .tile_n = 64, .warps = 8};
  fa3.scheduler = TileScheduler::kTilePerBlock;
  fa3.tma_store = true;
  fa3.query_stages = 2;
  KernelConfig walks = fa3;  // here a tile for each block too
  walks.scheduler = TileScheduler::kStatic;
  KernelConfig from_registers = walks;
  from_registers.tma_store = false;
  for (const KernelConfig& config :
       {KernelConfig{.family = Family::kFa1}, fa3, walks, from_registers}) {
    const int keys = 2 * config.tile_n;
    const Problem one = problem_of(DataType::kBf16, config.tile_m, keys);
    const Problem three = problem_of(DataType::kBf16, 3 * config.tile_m, keys);
    const HostConfig kernels = compile_for_host(compiler, one.variant, config, device());
    const long long of_tiles = 2 * predicted(one, config, Period::kKeyTile);
    const long long of_block =
        config.family == Family::kFa3 ? predicted(one, config, Period::kBlock) : 0;
    INFO(canonical_text(config));
    CHECK(count(kernels, three) - count(kernels, one) ==
          2 * 2 * (of_tiles + of_block + predicted(one, config, Period::kQueryTile)));
  }
}

TEST_CASE("Barriers of key tiles that the mask cuts are those that explain counts") {
  HostCompiler compiler;
  for (const DataType dtype : {DataType::kBf16, DataType::kE4m3}) {
    const KernelConfig config{.family = Family::kFa3, .tile_m = 128, .tile_n = 64, .warps = 8};
    // Query tiles of 128 rows that see 256, 384 and 512 keys; of each the last two of 64 are cut.
    Problem one = problem_of(dtype, 128, 256);
    Problem three = problem_of(dtype, 384, 512);
    one.variant.mask = three.variant.mask = MaskKind::kCausal;
    const HostConfig kernels = compile_for_host(compiler, one.variant, config, device());
    INFO(enum_name(dtype));
    CHECK(count(kernels, three) - count(kernels, one) ==
          2 * ((6 + 8) * predicted(one, config, Period::kKeyTile) +
               2 * (2 * predicted(one, config, Period::kMaskedKeyTile) +
                    predicted(one, config, Period::kQueryTile) +
                    predicted(one, config, Period::kBlock))));
  }
}

}  // namespace
}  // namespace heddle
