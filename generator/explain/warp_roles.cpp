#include "generator/explain/warp_roles.hpp"

#include <fmt/format.h>

#include "templates/layout.cuh"
#include "templates/warpgroup_layout.cuh"

namespace heddle {
namespace {

/// Warps tile the results in two dimensions.
Role grid_role(const KernelConfig& config, int columns, const std::string& result,
               const std::string& does) {
  const int wide = std::max(warp_grid_columns(config.tile_m, columns, config.warps), 1);
  const int down = config.warps / wide;
  return {
      "warps", config.warps,
      fmt::format("{} x {} of each {} x {} tile of {} ({} warps down, {} across)",
                  config.tile_m / down, columns / wide, config.tile_m, columns, result, down, wide),
      does};
}

std::vector<Role> fa1_roles(const KernelConfig& config) {
  const int key_warps = fa1_key_warps(config.warps);
  const int teams = config.warps / key_warps;
  return {
      {teams > 1 ? fmt::format("{} teams of {} warps", teams, key_warps) : "warps", config.warps,
       fmt::format("{} of the {} keys of a tile, for all {} rows of its team, {} at a time",
                   config.tile_n / key_warps, config.tile_n, config.tile_m / teams, kFa1StepRows),
       "copies tiles (cp.async), Q K^T and P V of its keys (mma.sync), softmax; adds up with "
       "its team"}};
}

std::vector<Role> fa2_roles(const KernelConfig& config) {
  return {{"warps", config.warps,
           fmt::format("{} of the {} query rows, all {} keys of a tile",
                       config.tile_m / config.warps, config.tile_m, config.tile_n),
           "copies tiles (cp.async), Q K^T and P V of its rows (mma.sync), their softmax"}};
}

/// What the three warps beside the one that loads are for.
Role fa3_helpers(const Variant& variant, const KernelConfig& config) {
  Role helpers{"helpers", kGuardWarps, std::string(kNoRows), "idle"};
  if (transposes_values(variant)) {
    helpers.does = "transpose each 8-bit V tile in shared memory";
  } else if (variant.mask == MaskKind::kCausal) {
    helpers.does =
        !watches_outputs(variant, config)
            ? "look through V tiles that the mask cuts, and clear NaN and Inf there"
            : "sleep, unless NaN or Inf among values spoils a tile: then they clear V tiles "
              "that the mask cuts";
  }
  return helpers;
}

std::vector<Role> fa3_roles(const Variant& variant, const KernelConfig& config) {
  const int teams = config.tile_m / kWarpgroupRows;
  Role consumers{
      teams > 1 ? fmt::format("{} consumer warpgroups", teams) : "consumer warpgroup", config.warps,
      fmt::format("{} of the {} query rows each, all {} keys of a tile", kWarpgroupRows,
                  config.tile_m, config.tile_n),
      "Q K^T and P V of its rows (wgmma: Q, K and V from shared memory, P from registers), their "
      "softmax"};
  consumers.does +=
      config.overlap == Overlap::kIntraWarpgroup
          ? "; P V of the tile before, issued right behind a tile's Q K^T, runs beside its softmax"
          : "; both products are over before its softmax begins, beside which only those of other "
            "warpgroups run";
  if (!config.warp_specialized) {
    consumers.does += "; three warps of the last one also ask the TMA for tiles";
    return {consumers};
  }
  return {consumers,
          {"producer", 1, std::string(kNoRows), "one thread asks the TMA for tiles of Q, K and V"},
          fa3_helpers(variant, config)};
}

}  // namespace

std::vector<Role> roles_of(const Variant& variant, const KernelConfig& config, KernelPart part) {
  switch (part) {
    case KernelPart::kUnfusedScores:
      return {grid_role(config, config.tile_n, "S",
                        "copies K tiles (cp.async), Q K^T (mma.sync), writes S to HBM")};
    case KernelPart::kUnfusedSoftmax:
      return {{"warps", part_footprint(variant, config, part).threads / 32,
               fmt::format("{} rows of S in turn; of long rows, a share of one that 4 or all warps "
                           "have in common",
                           kSoftmaxRowsPerWarp),
               "reads S, writes P over it"}};
    case KernelPart::kUnfusedOutput:
      return {grid_role(config, padded_head_dim(variant.head_dim), "O",
                        "copies P and V tiles (cp.async), P V (mma.sync)")};
    case KernelPart::kSplitCombine:
      return {{"warps", part_footprint(variant, config, part).threads / 32, "a query row each",
               "weighs the row's parts from all splits and adds them"}};
    case KernelPart::kFa1Attention:
      return fa1_roles(config);
    case KernelPart::kFa2Attention:
      return fa2_roles(config);
    case KernelPart::kFa3Attention:
      return fa3_roles(variant, config);
    case KernelPart::kReference:
      break;
  }
  return {};
}

}  // namespace heddle
