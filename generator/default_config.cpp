// The config of a problem nobody has tuned: picked by hand, small enough for the 99 KiB of shared
// memory of sm_86, sm_89 and sm_120, and far from spilling.

#include "generator/candidates.hpp"
#include "generator/legality.hpp"

namespace heddle {
namespace {

/// Prefill tiles; 4 warps each.
struct PrefillTile {
  int head_dim_limit;
  int tile_m, tile_n, stages;
  bool query_in_registers;
};

constexpr PrefillTile kPrefillTiles[] = {
    {64, 128, 64, 2, true}, {128, 128, 32, 2, false}, {256, 64, 32, 2, false}};

/// Below this many keys a combine kernel costs more than the split saves.
constexpr int kSplitKeys = 512;

KernelConfig tile_shape(int head_dim, int seqlen_q) {
  KernelConfig config;
  if (seqlen_q <= 32) {
    // Decoding: rows beyond the queries are wasted, and the K/V stream is what takes the time.
    config.tile_m = seqlen_q <= 16 ? 16 : 32;
    config.warps = config.tile_m / 16;
    config.tile_n = 32;
    config.stages = head_dim <= 128 ? 3 : 2;
    return config;
  }
  const PrefillTile* tile = kPrefillTiles;
  while (tile->head_dim_limit < head_dim) ++tile;
  config.tile_m = seqlen_q <= 64 ? 64 : tile->tile_m;
  config.tile_n = tile->tile_n;
  config.stages = tile->stages;
  config.query_in_registers = tile->query_in_registers;
  return config;
}

/// Whether fewer than half of the SMs would have a block, or, for the one- and two-warp blocks of
/// decoding, fewer than two.
bool leaves_sms_idle(const SizeBucket& bucket, const KernelConfig& config,
                     const DeviceLimits& limits) {
  const long long tiles = (bucket.seqlen_q + config.tile_m - 1LL) / config.tile_m;
  const long long rows = static_cast<long long>(bucket.sequences) * bucket.group;
  const long long wanted = config.warps < 4 ? 2LL * limits.sm_count : limits.sm_count / 2;
  return tiles * rows <= wanted;
}

}  // namespace

KernelConfig default_config(const Variant& variant, const SizeBucket& bucket,
                            const DeviceLimits& limits) {
  require(reject_variant(variant));
  KernelConfig config = tile_shape(variant.head_dim, bucket.seqlen_q);
  config.split_kv = bucket.seqlen_kv >= kSplitKeys && leaves_sms_idle(bucket, config, limits);
  const auto rejection = reject(variant, config, limits);
  if (!rejection) return config;
  throw Error(ErrorCode::kNoLegalConfig, rejection->field,
              "no kernel is legal on " + limits.architecture + ": " + rejection->reason);
}

}  // namespace heddle
