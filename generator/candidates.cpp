#include "generator/candidates.hpp"

#include <algorithm>

#include "generator/cost_model.hpp"
#include "generator/knobs.hpp"
#include "generator/legality.hpp"
#include "generator/search_space.hpp"
#include "templates/warpgroup_layout.cuh"

namespace heddle {
namespace {

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

std::vector<std::string_view> words_of(std::string_view list) {
  std::vector<std::string_view> words;
  while (!list.empty()) {
    const auto comma = list.find(',');
    words.push_back(list.substr(0, comma));
    list = comma == std::string_view::npos ? std::string_view{} : list.substr(comma + 1);
  }
  return words;
}

template <class Enum>
bool admits(std::string_view list, Enum value) {
  const auto words = words_of(list);
  return words.empty() || std::find(words.begin(), words.end(), enum_name(value)) != words.end();
}

/// Replaces each config by one per value of the line's knob. Names and values were checked when the
/// space was read.
void expand(std::vector<KernelConfig>& configs, const SearchSpaceLine& line) {
  for_each_field(KernelConfig{}, [&](const auto& knob, const auto& neutral) {
    if (knob.name != line.knob) return;
    std::vector<std::remove_cvref_t<decltype(neutral)>> values;
    for (const std::string_view word : words_of(line.values)) {
      auto value = neutral;
      parse_value(word, value);
      values.push_back(value);
    }
    expand(configs, knob.member, values);
  });
}

/// What fa3's switches are known to lose by.
void prune_pipeline(std::vector<KernelConfig>& configs, const Variant& variant) {
  std::erase_if(configs, [&](const KernelConfig& config) {
    return is_hopeless(config) || has_no_registers_for_notes(variant, config);
  });
}

/// The lines of a family that fit the variant: one a knob. A knob that does not change the kernel
/// keeps its default, so that no two candidates emit the same text.
std::vector<SearchSpaceLine> lines_of(Family family, const Variant& variant) {
  std::vector<SearchSpaceLine> lines;
  for (const SearchSpaceLine& line : search_space()) {
    const bool fits = line.family == enum_name(family) && admits(line.dtypes, variant.dtype) &&
                      admits(line.masks, variant.mask) && knob_applies(line.knob, family, variant);
    if (fits && (lines.empty() || lines.back().knob != line.knob)) lines.push_back(line);
  }
  return lines;
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
  const auto lines = lines_of(family, variant);
  if (lines.empty()) return {};
  KernelConfig base;
  base.family = family;
  std::vector<KernelConfig> configs{base};
  for (const SearchSpaceLine& line : lines) {
    if (!line.is_switch) expand(configs, line);
  }
  // Before the switches multiply what tile shapes alone rule out. Switches only ever add registers.
  std::erase_if(configs,
                [&](const auto& config) { return reject(variant, config, limits).has_value(); });
  for (const SearchSpaceLine& line : lines) {
    if (line.is_switch) expand(configs, line);
  }
  if (family == Family::kFa3) prune_pipeline(configs, variant);
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
