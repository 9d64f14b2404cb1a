#include "cli/report_knobs.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace heddle {
namespace {

/// The best time with each value of a knob.
template <class Knob>
auto best_by_value(const TuningView& tuning, const Knob& knob) {
  using Value = std::remove_cvref_t<decltype(KernelConfig{}.*(knob.member))>;
  std::map<Value, double> best;
  for (const ConfigResult& result : tuning.results) {
    const double relative = result.row.relative;
    const auto [known, inserted] = best.try_emplace(result.row.config.*(knob.member), relative);
    if (!inserted) known->second = std::min(known->second, relative);
  }
  return best;
}

double best_of(const TuningView& tuning) {
  double best = tuning.results.front().row.relative;
  for (const ConfigResult& result : tuning.results) best = std::min(best, result.row.relative);
  return best;
}

}  // namespace

double KnobEffect::span() const {
  double worst = 1;
  for (const auto& [value, factor] : values) worst = std::max(worst, factor);
  return worst;
}

std::vector<KnobEffect> knob_effects(const TuningView& tuning) {
  if (tuning.results.empty()) return {};
  const double best = best_of(tuning);
  std::vector<KnobEffect> effects;
  for_each_field(KernelConfig{}, [&](const auto& knob, const auto&) {
    const auto reached = best_by_value(tuning, knob);
    if (reached.size() < 2) return;
    KnobEffect effect{std::string(knob.name), {}};
    for (const auto& [value, relative] : reached) {
      effect.values.emplace_back(value_text(value), relative / best);
    }
    effects.push_back(std::move(effect));
  });
  std::stable_sort(effects.begin(), effects.end(),
                   [](const auto& left, const auto& right) { return left.span() > right.span(); });
  return effects;
}

std::vector<KnobValue> knob_summary(const std::vector<const TuningView*>& tunings) {
  std::vector<KnobValue> summary;
  for_each_field(KernelConfig{}, [&](const auto& knob, const auto& neutral) {
    std::map<std::remove_cvref_t<decltype(neutral)>, KnobValue> values;
    for (const TuningView* tuning : tunings) {
      const auto reached = best_by_value(*tuning, knob);
      if (reached.size() < 2) continue;
      for (const auto& [value, relative] : reached) {
        KnobValue& entry = values[value];
        const double cost = relative / best_of(*tuning);
        ++entry.tunings;
        entry.wins += tuning->winner->config.*(knob.member) == value ? 1 : 0;
        entry.mean_cost *= cost;
        entry.worst_cost = std::max(entry.worst_cost, cost);
      }
    }
    for (auto& [value, entry] : values) {
      entry.knob = knob.name;
      entry.value = value_text(value);
      entry.mean_cost = std::pow(entry.mean_cost, 1.0 / entry.tunings);
      summary.push_back(std::move(entry));
    }
  });
  return summary;
}

}  // namespace heddle
