#include "runtime/selection.hpp"

#include <algorithm>
#include <optional>

#include "generator/candidates.hpp"
#include "generator/legality.hpp"

namespace heddle {
namespace {

/// More would only delay the error that the first few already are.
constexpr std::size_t kMaxFallbacks = 3;

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
    if (found && legal(found->config)) {
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
