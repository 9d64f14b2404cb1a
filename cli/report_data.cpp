#include "cli/report_data.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace heddle {
namespace {

bool is_measured(const Measurement& row) {
  return row.evidence == Evidence::kMeasured && row.relative > 0;
}

TuningView view_of(std::vector<Measurement> rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const Measurement& left, const Measurement& right) {
    return left.elapsed_seconds < right.elapsed_seconds;
  });
  TuningView view;
  view.problem = {rows.front().variant, rows.front().sizes};
  view.device = rows.front().device;
  view.when = rows.front().provenance.when;
  for (const Measurement& row : rows) {
    if (!is_measured(row)) continue;
    if (row.relative == 1) view.base = row;
    const bool better = !view.winner || row.chosen ||
                        (!view.winner->chosen && row.relative < view.winner->relative);
    if (better) view.winner = row;
    if (!row.chosen) continue;
    view.finished = true;
    view.noise = row.noise;
  }
  view.rows = std::move(rows);
  return view;
}

struct Reason {
  const char* text;
  const char* name;
};
constexpr Reason kReasons[] = {{"guard band", "wrote outside its tensors"},
                               {"wrong result", "wrong result"},
                               {"compile time-out", "compile time-out"},
                               {"timed out", "timed out"},
                               {"CUDA_ERROR_OUT_OF_MEMORY", "out of device memory"},
                               {"of shared memory", "too much shared memory"},
                               {"CUDA_ERROR", "CUDA error"},
                               {"worker process", "ended its worker"},
                               {"compiling process", "ended its compiler"},
                               {"spill", "spills"},
                               {"C75", "serialised matrix products"}};

std::string reason_of(const std::string& failure) {
  for (const Reason& reason : kReasons) {
    if (failure.find(reason.text) < failure.size()) return reason.name;
  }
  return "other: " + failure.substr(0, failure.find_first_of(":\n"));
}

}  // namespace

double TuningView::speedup() const {
  return winner && base ? 1 / winner->relative : 0;
}

std::vector<TuningView::Step> TuningView::convergence() const {
  std::vector<Step> steps;
  for (const Measurement& row : rows) {
    if (!is_measured(row)) continue;
    if (steps.empty() || row.relative < steps.back().relative) {
      steps.push_back({row.elapsed_seconds, row.relative});
    }
  }
  if (!steps.empty()) steps.push_back({rows.back().elapsed_seconds, steps.back().relative});
  return steps;
}

std::vector<TuningView> tunings_of(const std::vector<Measurement>& rows) {
  std::map<std::string, std::vector<Measurement>> groups;
  for (const Measurement& row : rows) {
    if (!row.tuning.empty()) groups[row.tuning].push_back(row);
  }
  std::vector<TuningView> views;
  for (auto& [name, group] : groups) views.push_back(view_of(std::move(group)));
  std::stable_sort(views.begin(), views.end(), [](const TuningView& left, const TuningView& right) {
    return left.when > right.when;
  });
  return views;
}

std::map<std::string, int> failures_by_reason(const std::vector<Measurement>& rows) {
  std::map<std::string, int> counts;
  for (const Measurement& row : rows) {
    if (row.evidence == Evidence::kFailed) ++counts[reason_of(row.failure)];
  }
  return counts;
}

double KnobEffect::span() const {
  double worst = 1;
  for (const auto& [value, factor] : values) worst = std::max(worst, factor);
  return worst;
}

std::vector<KnobEffect> knob_effects(const TuningView& tuning) {
  if (!tuning.winner) return {};
  double best = tuning.winner->relative;
  for (const Measurement& row : tuning.rows) {
    if (is_measured(row)) best = std::min(best, row.relative);
  }
  std::vector<KnobEffect> effects;
  for_each_field(KernelConfig{}, [&](const auto& knob, const auto& neutral) {
    using Value = std::remove_cvref_t<decltype(neutral)>;
    std::map<Value, double> reached;
    for (const Measurement& row : tuning.rows) {
      if (!is_measured(row)) continue;
      const auto [known, inserted] = reached.try_emplace(row.config.*(knob.member), row.relative);
      if (!inserted) known->second = std::min(known->second, row.relative);
    }
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

std::string problem_title(const Problem& problem) {
  const Sizes& sizes = problem.sizes;
  const std::string heads = sizes.resolved_kv_heads() == sizes.heads
                                ? std::to_string(sizes.heads)
                                : fmt::format("{}/{}", sizes.heads, sizes.resolved_kv_heads());
  return fmt::format("{} d{} {}, batch {}, {} heads, {} x {}", enum_name(problem.variant.dtype),
                     problem.variant.head_dim, enum_name(problem.variant.mask), sizes.batch, heads,
                     sizes.seqlen_q, sizes.seqlen_kv);
}

}  // namespace heddle
