#include "generator/explain/knob_steps.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "generator/candidates.hpp"
#include "generator/knobs.hpp"
#include "generator/legality.hpp"

namespace heddle {
namespace {

/// Values of a number next to `value` among those that candidates have.
std::vector<int> next_values(const std::vector<KernelConfig>& candidates, int KernelConfig::*knob,
                             int value) {
  std::set<int> values{value};
  for (const KernelConfig& candidate : candidates) values.insert(candidate.*knob);
  const auto at = values.find(value);
  std::vector<int> next;
  if (at != values.begin()) next.push_back(*std::prev(at));
  if (std::next(at) != values.end()) next.push_back(*std::next(at));
  return next;
}

template <class Value>
std::vector<Value> other_values(const std::vector<KernelConfig>& candidates,
                                Value KernelConfig::*knob, Value value) {
  if constexpr (std::is_same_v<Value, bool>) {
    return {!value};
  } else if constexpr (std::is_enum_v<Value>) {
    std::vector<Value> others;
    for (const auto& [other, name] : EnumNames<Value>::names) {
      if (other != value) others.push_back(other);
    }
    return others;
  } else {
    return next_values(candidates, knob, value);
  }
}

/// fa3 has a warpgroup for each 64 rows: its warps follow the tile.
void follow_tile(KernelConfig& config) {
  if (config.family == Family::kFa3) config.warps = config.tile_m / 16;
}

/// Nothing to pack: the same kernel, with more work to find its rows.
bool is_pointless(const Problem& problem, const KernelConfig& config) {
  return config.pack_gqa && problem.sizes.heads == problem.sizes.resolved_kv_heads();
}

KnobStep judge(const Problem& problem, KernelConfig config, std::string change,
               const DeviceLimits& limits) {
  KnobStep step{config, std::move(change), {}, 0, {}};
  if (const auto rejection = reject(problem.variant, config, limits)) {
    step.illegal = rejection->reason;
    return step;
  }
  step.seconds = predict(problem, config, limits).seconds;
  step.shares = time_shares(problem, config, limits);
  return step;
}

}  // namespace

std::vector<KnobStep> knob_steps(const Problem& problem, const KernelConfig& config,
                                 const DeviceLimits& limits) {
  const auto candidates = enumerate_candidates(problem.variant, limits, config.family);
  std::vector<KnobStep> steps;
  for_each_field(config, [&](const auto& knob, const auto& value) {
    const bool follows = knob.name == "warps" && config.family == Family::kFa3;
    const bool fixed = knob.name == "family" || knob.name == "reference" || follows;
    if (fixed || !knob_applies(knob.name, config.family, problem.variant)) return;
    for (const auto& other : other_values(candidates, knob.member, value)) {
      KernelConfig changed = config;
      changed.*(knob.member) = other;
      follow_tile(changed);
      if (is_pointless(problem, changed)) continue;
      steps.push_back(
          judge(problem, changed,
                fmt::format("{} {} -> {}", knob.name, value_text(value),
                            value_text(static_cast<std::decay_t<decltype(value)>>(other))),
                limits));
    }
  });
  std::stable_sort(steps.begin(), steps.end(), [](const KnobStep& a, const KnobStep& b) {
    if (a.illegal.empty() != b.illegal.empty()) return a.illegal.empty();
    return a.illegal.empty() && a.seconds < b.seconds;
  });
  return steps;
}

}  // namespace heddle
