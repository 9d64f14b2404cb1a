#include "generator/candidates.hpp"

#include <algorithm>

#include "generator/knobs.hpp"
#include "generator/legality.hpp"

namespace heddle {
namespace {

/// What the tuner may try: every combination of a row's values that reject() accepts.
struct KnobLists {
  Family family;
  std::vector<int> tile_m, tile_n, warps, stages;
};

const KnobLists kKnobLists[] = {
    {Family::kUnfused, {64, 128}, {64, 128}, {4, 8}, {1, 2, 3}},
    {Family::kFa1, {32, 64, 128, 192, 256}, {64, 128, 192, 256}, {4, 8}, {1, 2}},
    {Family::kFa2, {16, 32, 64, 128, 192}, {32, 48, 64, 96, 128}, {1, 2, 4, 8}, {1, 2, 3}},
    {Family::kFa3, {64, 128, 192}, {64, 80, 96, 112, 128, 176}, {4, 8, 12}, {2, 3}},
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

/// Both values of a switch where it changes the kernel; elsewhere its default stays, so that no two
/// candidates emit the same text.
void expand_switches(std::vector<KernelConfig>& configs, const Variant& variant, Family family) {
  const auto applies = [&](std::string_view knob) { return knob_applies(knob, family, variant); };
  if (applies("query_in_registers")) {
    expand(configs, &KernelConfig::query_in_registers, {false, true});
  }
  if (applies("running_max")) {
    expand(configs, &KernelConfig::running_max, {RunningMax::kLazy, RunningMax::kEveryBlock});
  }
  if (applies("split_kv")) expand(configs, &KernelConfig::split_kv, {false, true});
  if (applies("longest_first")) expand(configs, &KernelConfig::longest_first, {true, false});
  if (applies("query_stages")) expand(configs, &KernelConfig::query_stages, {1, 2});
  if (applies("persistent")) expand(configs, &KernelConfig::persistent, {false, true});
}

}  // namespace

std::vector<KernelConfig> enumerate_candidates(const Variant& variant, const DeviceLimits& limits,
                                               Family family) {
  const auto lists = std::find_if(std::begin(kKnobLists), std::end(kKnobLists),
                                  [&](const KnobLists& row) { return row.family == family; });
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
  for (const KnobLists& lists : kKnobLists) {
    const auto family = enumerate_candidates(variant, limits, lists.family);
    configs.insert(configs.end(), family.begin(), family.end());
  }
  return configs;
}

std::vector<RankedConfig> rank_candidates(const Problem& problem, const DeviceLimits& limits) {
  std::vector<RankedConfig> ranked;
  for (const KernelConfig& config : enumerate_candidates(problem.variant, limits)) {
    ranked.push_back({config, predict(problem, config, limits)});
  }
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) {
    return a.prediction.seconds < b.prediction.seconds;
  });
  return ranked;
}

}  // namespace heddle
