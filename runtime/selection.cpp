#include "runtime/selection.hpp"

#include <algorithm>
#include <optional>

#include "generator/candidates.hpp"
#include "generator/legality.hpp"

namespace heddle {
namespace {

/// More would only delay the error that the first few already are.
constexpr std::size_t kMaxFallbacks = 3;

/// A winner measured at another size or on another device serves only if the cost model does not
/// expect it to lose more than this factor to the default here. (A prefill tile may be the nearest
/// known winner to a decoding problem, and leave most of the device idle.)
constexpr double kMostPredictedLoss = 1.25;

/// The default, made to split where that was asked for; nullopt where it cannot.
std::optional<KernelConfig> usable_default(const SelectionQuestion& question,
                                           const SelectionTarget& target) {
  KernelConfig config = default_config(question.variant, question.bucket, *target.limits);
  if (question.must_split && config.family == Family::kFa2) config.split_kv = true;
  if (is_usable(question, target, config)) return config;
  return std::nullopt;
}

std::vector<RankedConfig> ranked(const SelectionQuestion& question, const SelectionTarget& target) {
  Problem problem{question.variant, representative(question.bucket)};
  return rank_candidates(problem, *target.limits);
}

bool is_transferred(Match match) {
  return match == Match::kNearestSize || match == Match::kOtherDevice;
}

bool transfers_well(const SelectionQuestion& question, const SelectionTarget& target,
                    const KernelConfig& config) {
  const auto fallback = usable_default(question, target);
  if (!fallback) return true;
  const Problem problem{question.variant, representative(question.bucket)};
  return predict(problem, config, *target.limits).seconds <=
         kMostPredictedLoss * predict(problem, *fallback, *target.limits).seconds;
}

}  // namespace

bool is_usable(const SelectionQuestion& question, const SelectionTarget& target,
               const KernelConfig& config) {
  if (config.family == Family::kReference) return false;  // a check, not an answer
  if (question.must_split && !config.split_kv) return false;
  return !reject(question.variant, config, *target.limits).has_value();
}

Choice select(const SelectionQuestion& question, const SelectionTarget& target,
              const ResultsStore* store) {
  if (store != nullptr) {
    const auto legal = [&](const KernelConfig& config) {
      return is_usable(question, target, config);
    };
    const auto found = store->find(question.variant, question.bucket, *target.device, legal);
    const bool fits =
        found && legal(found->config) &&
        (!is_transferred(found->match) || transfers_well(question, target, found->config));
    if (fits) {
      return {found->config, found->match, found->expected_regret};
    }
  }
  if (const auto config = usable_default(question, target)) return {.config = *config};
  for (const RankedConfig& candidate : ranked(question, target)) {
    if (is_usable(question, target, candidate.config)) return {.config = candidate.config};
  }
  throw Error(ErrorCode::kNoLegalConfig, "num_splits",
              "num_splits: no kernel that splits the keys is legal here; give 0 (automatic)");
}

std::vector<Choice> fallbacks(const SelectionQuestion& question, const SelectionTarget& target,
                              const KernelConfig& failed) {
  std::vector<Choice> choices;
  const auto offer = [&](const KernelConfig& config) {
    const bool known = std::any_of(choices.begin(), choices.end(),
                                   [&](const Choice& choice) { return choice.config == config; });
    if (known || config == failed || choices.size() == kMaxFallbacks) return;
    if (is_usable(question, target, config)) choices.push_back({.config = config});
  };
  if (const auto config = usable_default(question, target)) offer(*config);
  for (const RankedConfig& candidate : ranked(question, target)) offer(candidate.config);
  return choices;
}

}  // namespace heddle
