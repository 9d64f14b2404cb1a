#include "cli/explain/choice_evidence.hpp"

#include <fmt/format.h>

#include "cli/terminal.hpp"

namespace heddle {
namespace {

/// Less than this is within what the cost model errs by.
constexpr double kMuchFaster = 0.8;

/// What a tuning that ended chose before what is only measured, the newest of them.
bool is_better(const Measurement& row, const std::optional<Measurement>& than) {
  if (!than || row.chosen != than->chosen) return !than || row.chosen;
  return row.provenance.when > than->provenance.when;
}

std::optional<RankedConfig> much_faster(const Problem& problem, const DeviceLimits& limits,
                                        const KernelConfig& chosen) {
  if (is_empty(problem.sizes) || chosen.family == Family::kReference) return std::nullopt;
  auto ranked = rank_candidates(problem, limits);
  if (ranked.empty() || ranked.front().config.family == chosen.family) return std::nullopt;
  const double seconds = predict(problem, chosen, limits).seconds;
  if (ranked.front().prediction.seconds > kMuchFaster * seconds) return std::nullopt;
  return std::move(ranked.front());
}

}  // namespace

ChoiceEvidence evidence_of(const ServiceFlags& services, const Problem& problem,
                           const SelectionPlace& place, const Choice& choice) {
  ChoiceEvidence evidence;
  evidence.faster = much_faster(problem, place.limits, choice.config);
  const ResultsStore store(services.results_options());
  for (const Measurement& row : store.evidence_of(problem.variant)) {
    if (row.evidence == Evidence::kMeasured && choice.match != Match::kDefault &&
        row.config == choice.config && row.bucket == choice.bucket &&
        row.device.same_class(choice.device) && is_better(row, evidence.measured)) {
      evidence.measured = row;
    }
    if (row.evidence == Evidence::kPredicted && is_transfer(choice) &&
        row.bucket == bucket_of(problem.sizes) && row.device.same_class(place.device) &&
        (!evidence.predicted || row.median_seconds < evidence.predicted->median_seconds)) {
      evidence.predicted = row;
    }
  }
  return evidence;
}

std::string stored_text(const Measurement& row, const Problem& problem) {
  const std::string day = row.provenance.when.substr(0, row.provenance.when.find('T'));
  std::string text = fmt::format("{} on {} ({} SMs), {}", format_seconds(row.median_seconds),
                                 row.device.name, row.device.sm_count, day);
  const std::string sizes = canonical_text(row.sizes);
  return sizes == canonical_text(problem.sizes) ? text : text + ", of " + sizes;
}

}  // namespace heddle
