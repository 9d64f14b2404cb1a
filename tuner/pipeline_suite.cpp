#include "tuner/pipeline_suite.hpp"

#include <fmt/format.h>

namespace heddle {
namespace {

constexpr Ablation kAblations[] = {Ablation::kNothing, Ablation::kPingPong, Ablation::kOverlap,
                                   Ablation::kWarpSpecialisation,
                                   Ablation::kTurnsAndSpecialisation};

/// Two teams of 64 rows with long key tiles, with a second slot for queries, and with rings of
/// three; three teams: which is best depends on what is off.
struct Tile {
  int tile_m, tile_n, stages, query_stages;
};
constexpr Tile kTiles[] = {
    {128, 176, 2, 1}, {128, 128, 2, 2}, {128, 128, 3, 1}, {128, 112, 3, 1}, {192, 80, 3, 1}};

KernelConfig base_config(const Tile& tile) {
  KernelConfig config;
  config.family = Family::kFa3;
  config.tile_m = tile.tile_m;
  config.tile_n = tile.tile_n;
  config.warps = tile.tile_m / 16;
  config.stages = tile.stages;
  config.query_stages = tile.query_stages;
  config.running_max = RunningMax::kEveryBlock;
  config.scheduler = TileScheduler::kStatic;
  config.ping_pong = true;
  // With one slot the next tile's queries would wait for the store.
  config.tma_store = tile.query_stages > 1;
  return config;
}

KernelConfig without(Ablation ablation, KernelConfig config) {
  switch (ablation) {
    case Ablation::kNothing:
      break;
    case Ablation::kPingPong:
      config.ping_pong = false;
      break;
    case Ablation::kOverlap:
      config.overlap = Overlap::kNone;
      break;
    case Ablation::kTurnsAndSpecialisation:
      config.ping_pong = false;
      [[fallthrough]];
    case Ablation::kWarpSpecialisation:
      config.warp_specialized = false;
      break;
  }
  return config;
}

}  // namespace

Problem pipeline_problem() {
  Problem problem;
  problem.variant = {.dtype = DataType::kFp16, .head_dim = 128, .mask = MaskKind::kFull};
  problem.sizes = {.batch = 4, .heads = 16, .seqlen_q = 8448, .seqlen_kv = 8448};
  return problem;
}

std::vector<AblationKernel> pipeline_kernels() {
  std::vector<AblationKernel> kernels;
  for (const Tile& tile : kTiles) {
    const std::string name =
        fmt::format("{} x {}, {} stages, {} Q slot{}", tile.tile_m, tile.tile_n, tile.stages,
                    tile.query_stages, tile.query_stages == 1 ? "" : "s");
    for (const Ablation ablation : kAblations) {
      kernels.push_back({ablation, name, without(ablation, base_config(tile))});
    }
  }
  return kernels;
}

}  // namespace heddle
