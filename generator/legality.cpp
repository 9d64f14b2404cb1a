#include "generator/legality.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "generator/cost_model.hpp"
#include "generator/kernel_part.hpp"
#include "generator/knobs.hpp"
#include "generator/legality_checks.hpp"
#include "templates/layout.cuh"
#include "templates/warpgroup_layout.cuh"

namespace heddle {
using namespace legality;
namespace {

constexpr int kMmaRows = 16;
constexpr int kMaxTile = 256;
constexpr int kMaxStages = 8;
constexpr int kMaxWarps = 16;
/// Where threads share the file, ptxas meets the bound worse than it meets 255: 7 of the 9 of 200
/// random kernels that spilled without this had 9 to 13 warps.
constexpr int kSharedFileReserve = 32;

Result check_unused_knobs(const Variant& variant, const KernelConfig& config) {
  const KernelConfig defaults;
  Result result;
  for_each_field(config, [&](const auto& knob, const auto& value) {
    if (result || value == defaults.*(knob.member)) return;
    if (knob_applies(knob.name, config.family, variant)) return;
    result = refuse(std::string(knob.name),
                    fmt::format("{}={} has no effect on family {} with a {} mask; leave it at {}",
                                knob.name, value_text(value), enum_name(config.family),
                                enum_name(variant.mask), value_text(defaults.*(knob.member))));
  });
  return result;
}

Result check_running_max(const KernelConfig& config) {
  if (config.running_max != RunningMax::kCheckedSum) return std::nullopt;
  if (config.family != Family::kFa3) {
    return refuse("running_max",
                  fmt::format("running_max={} is built for family fa3 only, not {}; "
                              "use lazy or every_block",
                              enum_name(config.running_max), enum_name(config.family)));
  }
  if (!config.split_kv && !config.pack_gqa) return std::nullopt;
  return refuse(
      "running_max",
      fmt::format("running_max={} makes up for blocks of whole rows of one head, not "
                  "with {}=true; use running_max=lazy",
                  enum_name(config.running_max), config.split_kv ? "split_kv" : "pack_gqa"));
}

Result check_range(std::string_view knob, int value, int step, int maximum) {
  if (value >= step && value <= maximum && value % step == 0) return std::nullopt;
  return refuse(std::string(knob), fmt::format("{}={} is not a multiple of {} from {} to {}", knob,
                                               value, step, step, maximum));
}

Result check_ranges(const KernelConfig& config) {
  return first_of([&] { return check_range("tile_m", config.tile_m, kMmaRows, kMaxTile); },
                  [&] { return check_range("tile_n", config.tile_n, kMmaRows, kMaxTile); },
                  [&] { return check_range("warps", config.warps, 1, kMaxWarps); },
                  [&] { return check_range("stages", config.stages, 1, kMaxStages); },
                  [&] { return check_range("query_stages", config.query_stages, 1, 2); });
}

/// Four warps split a tile's keys; 2 do, and further teams of four take rows of their own.
Result check_fa1_partition(const KernelConfig& config) {
  if (config.warps != 2 && config.warps % 4 != 0) {
    return refuse("warps", fmt::format("warps={} is neither 2 nor a multiple of 4 (fa1's warps "
                                       "split a tile's keys in teams)",
                                       config.warps));
  }
  const int key_warps = fa1_key_warps(config.warps);
  return first_of(
      [&] {
        return check_divides("tile_n", config.tile_n, kMmaRows * key_warps,
                             "each warp owns 16-key slices of a tile");
      },
      [&] {
        return check_divides("tile_m", config.tile_m, kFa1StepRows * (config.warps / key_warps),
                             "each team takes 32 rows at a time");
      });
}

Result check_warp_grid(const KernelConfig& config, int columns, std::string_view what) {
  if (warp_grid_columns(config.tile_m, columns, config.warps) > 0) return std::nullopt;
  return refuse("warps", fmt::format("warps={} cannot share a {} x {} tile of {} in whole 16 x 16 "
                                     "blocks",
                                     config.warps, config.tile_m, columns, what));
}

Result check_partition(const Variant& variant, const KernelConfig& config) {
  switch (config.family) {
    case Family::kFa1:
      return check_fa1_partition(config);
    case Family::kFa2:
      return check_divides("tile_m", config.tile_m, kMmaRows * config.warps,
                           "each warp owns 16-row slices of a tile");
    case Family::kUnfused:
      return first_of(
          [&] { return check_warp_grid(config, config.tile_n, "scores"); },
          [&] { return check_warp_grid(config, padded_head_dim(variant.head_dim), "outputs"); });
    case Family::kFa3:
      return check_fa3(variant, config);
    case Family::kReference:
      return std::nullopt;
  }
  return std::nullopt;
}

Result check_shared_memory(const Variant& variant, const KernelConfig& config,
                           const DeviceLimits& limits) {
  for (const KernelPart part : kernel_parts(config)) {
    const int bytes = part_footprint(variant, config, part).shared_bytes;
    if (bytes <= limits.shared_bytes_per_block) continue;
    return refuse("tile_n", fmt::format("{} needs {} bytes of shared memory, {} allows {} per "
                                        "block; use smaller tiles or fewer stages",
                                        enum_name(part), bytes, limits.architecture,
                                        limits.shared_bytes_per_block));
  }
  return std::nullopt;
}

/// A thread can address 255 registers, fewer where a block's threads must share the file.
Result check_registers(const Variant& variant, const KernelConfig& config,
                       const DeviceLimits& limits) {
  if (config.family == Family::kFa3) return check_fa3_registers(variant, config);
  const int threads = config.warps * 32;
  const int share = limits.registers_per_sm / threads / 8 * 8;
  const int available = share >= kAddressable ? kAddressable : share - kSharedFileReserve;
  const int needed = estimate_registers(variant, config, limits);
  if (needed <= available) return std::nullopt;
  return refuse("tile_m",
                fmt::format("tile_m={} by tile_n={} over {} warps needs about {} "
                            "registers per thread of the {} there are; use smaller tiles "
                            "or more warps",
                            config.tile_m, config.tile_n, config.warps, needed, available));
}

Result check_architecture(const KernelConfig& config, const DeviceLimits& limits) {
  if (limits.capability_major >= 8) return std::nullopt;
  return refuse("family", fmt::format("family {} needs sm_80 or newer, not {}",
                                      enum_name(config.family), limits.architecture));
}

}  // namespace

Result legality::check_divides(std::string_view knob, int value, int unit, std::string_view why) {
  if (value % unit == 0) return std::nullopt;
  return refuse(std::string(knob),
                fmt::format("{}={} is not a multiple of {} ({})", knob, value, unit, why));
}

std::optional<Rejection> reject(const Variant& variant, const KernelConfig& config,
                                const DeviceLimits& limits) {
  return first_of([&] { return reject_variant(variant); },
                  [&] { return check_architecture(config, limits); },
                  [&] { return check_hopper(variant, config, limits); },
                  [&] { return check_scaled_inputs(variant, config); },
                  [&] { return check_unused_knobs(variant, config); },
                  [&] { return check_running_max(config); }, [&] { return check_ranges(config); },
                  [&] { return check_partition(variant, config); },
                  [&] { return check_shared_memory(variant, config, limits); },
                  [&] { return check_registers(variant, config, limits); });
}

}  // namespace heddle
