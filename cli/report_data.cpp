#include "cli/report_data.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace heddle {
namespace {

bool is_measured(const Measurement& row) {
  return row.evidence == Evidence::kMeasured && row.relative > 0;
}

std::vector<ConfigResult> results_of(const std::vector<Measurement>& rows) {
  std::vector<ConfigResult> results;
  std::map<std::string, std::size_t> places;
  for (const Measurement& row : rows) {
    if (!is_measured(row)) continue;
    const auto [known, inserted] = places.try_emplace(canonical_text(row.config), results.size());
    if (inserted) results.push_back({row.elapsed_seconds, {}});
    results[known->second].row = row;
  }
  return results;
}

/// What all are relative to: 1 whenever it was measured. Another's ratio may come out as 1 too, but
/// it came after it.
std::optional<Measurement> base_of(const TuningView& view) {
  std::map<std::string, bool> differs;
  for (const Measurement& row : view.rows) {
    if (is_measured(row) && row.relative != 1) differs[canonical_text(row.config)] = true;
  }
  for (const ConfigResult& result : view.results) {
    if (differs.count(canonical_text(result.row.config)) == 0) return result.row;
  }
  return std::nullopt;
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
    if (!is_measured(row) || !row.chosen) continue;
    view.finished = true;
    view.winner = row;
    view.noise = row.noise;
  }
  view.rows = std::move(rows);
  view.results = results_of(view.rows);
  view.base = base_of(view);
  if (!view.finished && !view.results.empty()) {
    view.winner = std::min_element(view.results.begin(), view.results.end(),
                                   [](const ConfigResult& left, const ConfigResult& right) {
                                     return left.row.relative < right.row.relative;
                                   })
                      ->row;
  }
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

/// ", name=value" of each field that is not neutral.
template <class Struct>
std::string changed_fields(const Struct& object) {
  const Struct neutral;
  std::string text;
  for_each_field(object, [&](const auto& entry, const auto& value) {
    if (value != neutral.*(entry.member))
      text += fmt::format(", {}={}", entry.name, value_text(value));
  });
  return text;
}

}  // namespace

double TuningView::speedup() const {
  return winner && base ? 1 / winner->relative : 0;
}

std::vector<TuningView::Step> TuningView::convergence() const {
  std::vector<Step> steps;
  for (const ConfigResult& result : results) {
    if (steps.empty() || result.row.relative < steps.back().relative) {
      steps.push_back({result.found_seconds, result.row.relative});
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

std::map<std::string, FailureKind> failures_by_reason(const std::vector<Measurement>& rows) {
  std::map<std::string, FailureKind> kinds;
  for (const Measurement& row : rows) {
    if (row.evidence != Evidence::kFailed) continue;
    FailureKind& kind = kinds[reason_of(row.failure)];
    if (kind.count++ == 0) kind.example = row;
  }
  return kinds;
}

std::string problem_title(const Problem& problem) {
  const Sizes& sizes = problem.sizes;
  const std::string heads = sizes.resolved_kv_heads() == sizes.heads
                                ? std::to_string(sizes.heads)
                                : fmt::format("{}/{}", sizes.heads, sizes.resolved_kv_heads());
  Variant others = problem.variant;
  others.dtype = Variant{}.dtype;
  others.head_dim = Variant{}.head_dim;
  others.mask = Variant{}.mask;
  Sizes rest;
  rest.scale = sizes.scale;
  rest.num_splits = sizes.num_splits;
  return fmt::format("{} d{} {}, batch {}, {} heads, {} x {}{}{}", enum_name(problem.variant.dtype),
                     problem.variant.head_dim, enum_name(problem.variant.mask), sizes.batch, heads,
                     sizes.seqlen_q, sizes.seqlen_kv, changed_fields(others), changed_fields(rest));
}

}  // namespace heddle
