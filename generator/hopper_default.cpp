#include "generator/hopper_default.hpp"

#include "generator/legality.hpp"

namespace heddle {
namespace {

/// Rows of query tiles, one warpgroup each.
constexpr int kTeamRows = 64;

/// A prefill tile of fa3, and for what it serves.
struct HopperTile {
  int head_dim_limit;
  bool is_scaled;  ///< 8-bit inputs
  int least_keys;
  int tile_m, tile_n, stages;
  /// Slots for Q of a block that walks tiles. With two O is stored by TMA, with one from registers.
  /// 0: a block for each tile.
  int query_slots = 2;
};

/// Best first; the first that is legal serves. 16-bit ones of 64, 128 and 256 columns and 8-bit
/// ones are among the winners tuned on an H200 (docs/performance.md), others are picked by hand.
constexpr HopperTile kTiles[] = {
    {64, false, 0, 192, 128, 4},    {128, false, 2048, 192, 80, 3}, {128, false, 0, 128, 128, 2},
    {256, false, 0, 128, 64, 2, 1}, {64, true, 0, 192, 128, 4},     {128, true, 0, 192, 96, 4},
    {256, true, 0, 128, 128, 2},    {256, true, 0, 128, 128, 2, 0}, {256, true, 0, 128, 64, 2, 0},
};

KernelConfig teams(int tile_m, int tile_n, int stages) {
  KernelConfig config;
  config.family = Family::kFa3;
  config.tile_m = tile_m;
  config.warps = tile_m / 16;
  config.tile_n = tile_n;
  config.stages = stages;
  return config;
}

/// Tiles drawn as blocks come to them pay where they differ in length; the search space has no
/// other walk for a mask.
TileScheduler walk_of(const Variant& variant) {
  return variant.mask == MaskKind::kCausal ? TileScheduler::kDynamic : TileScheduler::kStatic;
}

KernelConfig prefill(const HopperTile& tile, const Variant& variant, int seqlen_q) {
  const int rows = seqlen_q <= 2 * kTeamRows ? 2 * kTeamRows : tile.tile_m;
  KernelConfig config = teams(rows, tile.tile_n, tile.stages);
  config.ping_pong = true;
  // Else no whole block is hidden from a team and seen by another.
  config.skip_masked =
      variant.mask == MaskKind::kCausal && config.tile_m - kTeamRows >= config.tile_n;
  if (tile.query_slots == 0) return config;
  config.query_stages = tile.query_slots;
  config.scheduler = walk_of(variant);
  config.tma_store = tile.query_slots == 2 && variant.dtype != DataType::kE4m3;
  return config;
}

/// One team: K and V are read once for all query heads that share them.
KernelConfig decode(const Variant& variant, const SizeBucket& bucket) {
  const bool deep = variant.head_dim > 128 && variant.dtype != DataType::kE4m3;
  KernelConfig config = teams(kTeamRows, deep ? 64 : 128, deep ? 2 : 3);
  config.query_stages = 2;
  config.scheduler = walk_of(variant);
  config.pack_gqa = bucket.group > 1;
  return config;
}

bool serves(const HopperTile& tile, const Variant& variant, const SizeBucket& bucket) {
  const bool is_scaled = variant.dtype == DataType::kE4m3;
  return variant.head_dim <= tile.head_dim_limit && is_scaled == tile.is_scaled &&
         bucket.seqlen_kv >= tile.least_keys;
}

}  // namespace

std::optional<KernelConfig> hopper_default(const Variant& variant, const SizeBucket& bucket,
                                           const DeviceLimits& limits) {
  const auto legal = [&](const KernelConfig& config) {
    return !reject(variant, config, limits).has_value();
  };
  if (bucket.seqlen_q <= kTeamRows) {
    KernelConfig config = decode(variant, bucket);
    if (legal(config)) return config;
    config.stages = 2;
    config.tile_n = 64;
    if (legal(config)) return config;
    return std::nullopt;
  }
  for (const HopperTile& tile : kTiles) {
    if (!serves(tile, variant, bucket)) continue;
    const KernelConfig config = prefill(tile, variant, bucket.seqlen_q);
    if (legal(config)) return config;
  }
  return std::nullopt;
}

}  // namespace heddle
