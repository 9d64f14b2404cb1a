#include "generator/candidates.hpp"

#include <algorithm>

#include "generator/cost_model.hpp"
#include "generator/knobs.hpp"
#include "generator/legality.hpp"
#include "templates/warpgroup_layout.cuh"

namespace heddle {
namespace {

/// What the tuner may try: every combination of a row's values that reject() accepts.
struct KnobLists {
  Family family;
  std::vector<int> tile_m, tile_n, warps, stages;
  bool scaled = false;  ///< for 8-bit inputs, the others for 16-bit ones
};

const KnobLists kKnobLists[] = {
    {Family::kUnfused, {64, 128}, {64, 128}, {4, 8}, {1, 2, 3}},
    {Family::kFa1, {32, 64, 128, 192, 256}, {64, 128, 192, 256}, {4, 8}, {1, 2}},
    {Family::kFa2, {16, 32, 64, 128, 192}, {32, 48, 64, 96, 128}, {1, 2, 4, 8}, {1, 2, 3}},
    {Family::kFa3, {64, 128, 192}, {64, 80, 96, 112, 128, 176}, {4, 8, 12}, {2, 3, 4}},
    {Family::kFa3, {64, 128, 192, 256}, {64, 96, 128, 160, 224}, {4, 8, 12, 16}, {2, 3, 4}, true},
};

/// Replaces each config by one per value of the knob.
template <class Value>
void expand(std::vector<KernelConfig>& configs, Value KernelConfig::*knob,
            const std::vector<Value>& values) {
  std::vector<KernelConfig> grown;
  grown.reserve(configs.size() * values.size());
  for (const KernelConfig& config : configs) {
    for (const Value value : values) {
      grown.push_back(config);
      grown.back().*knob = value;
    }
  }
  configs = std::move(grown);
}

/// Not worth a try: O by TMA with one slot for queries, which then wait for it (an H200 is 3 to 10
/// % slower); a warpgroup that skips blocks where no whole block is hidden from one; and for
/// problems of few query rows, which splits and packs are for, what serves many.
bool is_hopeless(const KernelConfig& config) {
  if (config.tma_store && config.query_stages == 1) return true;
  const bool few_rows = config.split_kv || config.pack_gqa;
  if (few_rows && (config.tile_m > 2 * kWarpgroupRows || config.ping_pong || config.skip_masked)) {
    return true;
  }
  return config.skip_masked && config.tile_m - kWarpgroupRows < config.tile_n;
}

/// A warpgroup that goes from tile to tile under a causal mask and stores from registers keeps more
/// of them beside the notes of checked sums. Without these to spare, ptxas spills 20 to 130 bytes.
bool has_no_registers_for_notes(const Variant& variant, const KernelConfig& config) {
  constexpr int kNotes = 12;
  const bool keeps_notes = config.running_max == RunningMax::kCheckedSum && !config.tma_store &&
                           config.scheduler != TileScheduler::kTilePerBlock &&
                           variant.mask == MaskKind::kCausal;
  const int given = role_registers(config.tile_m / kWarpgroupRows).consumer;
  return keeps_notes && given > 0 && estimate_consumer_registers(variant, config) + kNotes > given;
}

/// A row's maxima are looked for in the first 5 to 8 blocks anyway
/// (templates/part/checked_softmax.cuh): with fewer than this, checked sums lose 1 to 4 % on an
/// H200.
constexpr int kCheckedSumBlocks = 12;

bool has_too_few_blocks(const Problem& problem, const KernelConfig& config) {
  return config.running_max == RunningMax::kCheckedSum &&
         problem.sizes.seqlen_kv < static_cast<long long>(kCheckedSumBlocks) * config.tile_n;
}

/// fa3's knobs beside its tiles. Drawing tiles pays where they differ in length, not elsewhere.
void expand_pipeline(std::vector<KernelConfig>& configs, const Variant& variant) {
  const bool causal = variant.mask == MaskKind::kCausal;
  expand(configs, &KernelConfig::query_stages, {1, 2});
  expand(configs, &KernelConfig::scheduler,
         {TileScheduler::kTilePerBlock, causal ? TileScheduler::kDynamic : TileScheduler::kStatic});
  expand(configs, &KernelConfig::ping_pong, {false, true});
  expand(configs, &KernelConfig::tma_store, {false, true});
  if (causal) expand(configs, &KernelConfig::skip_masked, {false, true});
  expand(configs, &KernelConfig::pack_gqa, {false, true});
  std::erase_if(configs, [&](const KernelConfig& config) {
    return is_hopeless(config) || has_no_registers_for_notes(variant, config);
  });
}

/// Both values of a switch where it changes the kernel; elsewhere its default stays, so that no two
/// candidates emit the same text.
void expand_switches(std::vector<KernelConfig>& configs, const Variant& variant, Family family) {
  const auto applies = [&](std::string_view knob) { return knob_applies(knob, family, variant); };
  if (applies("query_in_registers")) {
    expand(configs, &KernelConfig::query_in_registers, {false, true});
  }
  if (applies("running_max")) {
    std::vector<RunningMax> values{RunningMax::kLazy, RunningMax::kEveryBlock};
    if (family == Family::kFa3) values.push_back(RunningMax::kCheckedSum);
    expand(configs, &KernelConfig::running_max, values);
  }
  if (applies("split_kv")) expand(configs, &KernelConfig::split_kv, {false, true});
  if (family == Family::kFa3) return expand_pipeline(configs, variant);
  if (applies("longest_first")) expand(configs, &KernelConfig::longest_first, {true, false});
}

std::vector<RankedConfig> rank(const std::vector<KernelConfig>& configs, const Problem& problem,
                               const DeviceLimits& limits) {
  std::vector<RankedConfig> ranked;
  const Sizes& sizes = problem.sizes;
  for (const KernelConfig& config : configs) {
    if (has_too_few_blocks(problem, config)) continue;
    // Nothing to pack: the same work, and more of it to find rows.
    if (config.pack_gqa && sizes.heads == sizes.resolved_kv_heads()) continue;
    ranked.push_back({config, predict(problem, config, limits)});
  }
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) {
    return a.prediction.seconds < b.prediction.seconds;
  });
  return ranked;
}

}  // namespace

std::vector<KernelConfig> enumerate_candidates(const Variant& variant, const DeviceLimits& limits,
                                               Family family) {
  const auto lists =
      std::find_if(std::begin(kKnobLists), std::end(kKnobLists), [&](const KnobLists& row) {
        return row.family == family && row.scaled == (variant.dtype == DataType::kE4m3);
      });
  if (lists == std::end(kKnobLists)) return {};
  KernelConfig base;
  base.family = family;
  std::vector<KernelConfig> configs{base};
  expand(configs, &KernelConfig::tile_m, lists->tile_m);
  expand(configs, &KernelConfig::tile_n, lists->tile_n);
  expand(configs, &KernelConfig::warps, lists->warps);
  expand(configs, &KernelConfig::stages, lists->stages);
  // Before the switches multiply what tile shapes alone rule out. Switches only ever add registers.
  std::erase_if(configs,
                [&](const auto& config) { return reject(variant, config, limits).has_value(); });
  expand_switches(configs, variant, family);
  std::erase_if(configs,
                [&](const auto& config) { return reject(variant, config, limits).has_value(); });
  return configs;
}

std::vector<KernelConfig> enumerate_candidates(const Variant& variant, const DeviceLimits& limits) {
  std::vector<KernelConfig> configs;
  for (const Family each : {Family::kUnfused, Family::kFa1, Family::kFa2, Family::kFa3}) {
    const auto family = enumerate_candidates(variant, limits, each);
    configs.insert(configs.end(), family.begin(), family.end());
  }
  return configs;
}

std::vector<RankedConfig> rank_candidates(const Problem& problem, const DeviceLimits& limits) {
  return rank(enumerate_candidates(problem.variant, limits), problem, limits);
}

std::vector<RankedConfig> rank_candidates(const Problem& problem, const DeviceLimits& limits,
                                          Family family) {
  return rank(enumerate_candidates(problem.variant, limits, family), problem, limits);
}

}  // namespace heddle
