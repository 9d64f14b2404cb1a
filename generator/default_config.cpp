// The config of a problem nobody has tuned: picked by hand; fa3's where it is legal, else fa2's, of
// which one fits the 99 KiB of shared memory of sm_86, sm_89 and sm_120 for every head dim.

#include <algorithm>
#include <limits>

#include "generator/candidates.hpp"
#include "generator/hopper_default.hpp"
#include "generator/legality.hpp"
#include "templates/warpgroup_layout.cuh"

namespace heddle {
namespace {

constexpr int kHopper = 9;  ///< capability, major
constexpr int kNewest = std::numeric_limits<int>::max();

/// fa2's prefill tiles, best first; the first that is legal on the device serves. Those of 64 for
/// Hopper and the first of 128 are among the winners tuned on an H200 (tuning_db/entries), the
/// others are picked by hand and not tuned: for capabilities where the one before spills or needs
/// more than 99 KiB.
struct PrefillTile {
  int head_dim_limit;
  int tile_m, tile_n, warps, stages;
  int first_capability = 0;  ///< major
  int last_capability = kNewest;
  bool causal_only = false;
  bool query_in_registers = false;
};

constexpr PrefillTile kPrefillTiles[] = {{64, 128, 64, 4, 2, kHopper, kHopper, true, true},
                                         {64, 128, 64, 4, 3, kHopper, kHopper, false, true},
                                         {64, 128, 96, 4, 1},
                                         {128, 128, 48, 4, 2},
                                         {128, 128, 32, 4, 2, 0, 10},
                                         {128, 64, 64, 4, 2},
                                         {256, 128, 64, 8, 1},
                                         {256, 64, 32, 4, 2, 0, kHopper},
                                         {256, 64, 16, 4, 2}};

bool is_for(const PrefillTile& tile, const Variant& variant, const DeviceLimits& limits) {
  return variant.head_dim <= tile.head_dim_limit &&
         (!tile.causal_only || variant.mask == MaskKind::kCausal) &&
         limits.capability_major >= tile.first_capability &&
         limits.capability_major <= tile.last_capability;
}

/// The least bucket of queries.
constexpr int kDecodeQueries = 16;

/// Below this many keys a combine kernel costs more than the split saves.
constexpr int kSplitKeys = 512;

/// Rows beyond the queries are wasted when decoding, and the K/V stream is what takes the time.
KernelConfig decode_config(int head_dim, int seqlen_q) {
  KernelConfig config;
  config.tile_m = seqlen_q <= 16 ? 16 : 32;
  config.warps = config.tile_m / 16;
  config.tile_n = 32;
  config.stages = head_dim <= 128 ? 3 : 2;
  return config;
}

KernelConfig prefill_config(const Variant& variant, int seqlen_q, const DeviceLimits& limits) {
  KernelConfig config;
  for (const PrefillTile& tile : kPrefillTiles) {
    if (!is_for(tile, variant, limits)) continue;
    config.tile_m = seqlen_q <= 64 ? 64 : tile.tile_m;
    config.tile_n = tile.tile_n;
    config.warps = std::min(tile.warps, config.tile_m / 16);
    config.stages = tile.stages;
    config.query_in_registers = tile.query_in_registers;
    if (!reject(variant, config, limits)) break;
  }
  return config;
}

/// Whether fewer than half of the SMs would have a block, or, for the one- and two-warp blocks of
/// decoding, fewer than two. Of the least bucket of queries most have one: a split that those with
/// 16 did not need is one combine kernel, a missing one leaves up to 15 of 16 SMs idle.
bool leaves_sms_idle(const SizeBucket& bucket, const KernelConfig& config,
                     const DeviceLimits& limits) {
  const int packed = config.pack_gqa ? bucket.group : 1;
  const int seqlen_q = bucket.seqlen_q <= kDecodeQueries ? 1 : bucket.seqlen_q;
  const long long queries = static_cast<long long>(seqlen_q) * packed;
  const long long tiles = (queries + config.tile_m - 1) / config.tile_m;
  const long long rows = static_cast<long long>(bucket.sequences) * (bucket.group / packed);
  const long long wanted = config.warps < 4 ? 2LL * limits.sm_count : limits.sm_count / 2;
  return tiles * rows <= wanted;
}

}  // namespace

KernelConfig with_split_keys(KernelConfig config) {
  config.split_kv = true;
  if (config.family != Family::kFa3) return config;
  // Partial results are fp32, and go to the workspace from registers. Splits are for few rows of
  // queries: what serves many is neither searched nor measured beside them (candidates.cpp).
  config.tma_store = config.ping_pong = config.skip_masked = false;
  config.tile_m = std::min(config.tile_m, 2 * kWarpgroupRows);
  config.warps = config.tile_m / 16;
  return config;
}

std::optional<KernelConfig> default_config(Family family, const Variant& variant,
                                           const SizeBucket& bucket, const DeviceLimits& limits) {
  KernelConfig config;
  if (family == Family::kFa3) {
    const auto found = hopper_default(variant, bucket, limits);
    if (!found) return std::nullopt;
    config = *found;
  } else if (family == Family::kFa2 && variant.dtype != DataType::kE4m3) {
    const bool decodes = bucket.seqlen_q <= 32;
    config = decodes ? decode_config(variant.head_dim, bucket.seqlen_q)
                     : prefill_config(variant, bucket.seqlen_q, limits);
  } else {
    return std::nullopt;
  }
  if (bucket.seqlen_kv >= kSplitKeys && leaves_sms_idle(bucket, config, limits)) {
    config = with_split_keys(config);
  }
  if (reject(variant, config, limits)) return std::nullopt;
  return config;
}

KernelConfig default_config(const Variant& variant, const SizeBucket& bucket,
                            const DeviceLimits& limits) {
  require(reject_variant(variant));
  for (const Family family : kDefaultFamilies) {
    if (const auto config = default_config(family, variant, bucket, limits)) return *config;
  }
  KernelConfig config;
  config.family = variant.dtype == DataType::kE4m3 ? Family::kFa3 : Family::kFa2;
  const auto rejection = reject(variant, config, limits);
  throw Error(ErrorCode::kNoLegalConfig, rejection ? rejection->field : "family",
              "no kernel is legal on " + limits.architecture + ": " +
                  (rejection ? rejection->reason : std::string("no default fits")));
}

}  // namespace heddle
