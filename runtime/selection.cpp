#include "runtime/selection.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "generator/candidates.hpp"
#include "generator/knobs.hpp"
#include "generator/legality.hpp"

namespace heddle {
namespace {

/// More would only delay the error that the first few already are.
constexpr std::size_t kMaxFallbacks = 3;
/// Enough for a person to see why; a database may hold hundreds of configs.
constexpr std::size_t kMostPassedOver = 8;

/// A winner measured at another size or on another device serves only if the cost model does not
/// expect it to lose more than this factor to the default here. (A prefill tile may be the nearest
/// known winner to a decoding problem, and leave most of the device idle.)
constexpr double kMostPredictedLoss = 1.25;

/// The config, made to split where that was asked for; nullopt where it cannot.
std::optional<KernelConfig> usable(KernelConfig config, const SelectionQuestion& question,
                                   const SelectionTarget& target) {
  if (question.must_split && knob_applies("split_kv", config.family, question.variant)) {
    config = with_split_keys(config);
  }
  if (is_usable(question, target, config)) return config;
  return std::nullopt;
}

std::optional<KernelConfig> usable_default(const SelectionQuestion& question,
                                           const SelectionTarget& target) {
  return usable(default_config(question.variant, question.bucket, *target.limits), question,
                target);
}

std::vector<RankedConfig> ranked(const SelectionQuestion& question, const SelectionTarget& target) {
  Problem problem{question.variant, representative(question.bucket)};
  return rank_candidates(problem, *target.limits);
}

std::optional<KernelConfig> cheapest(const SelectionQuestion& question,
                                     const SelectionTarget& target) {
  for (const RankedConfig& candidate : ranked(question, target)) {
    if (is_usable(question, target, candidate.config)) return candidate.config;
  }
  return std::nullopt;
}

/// Why the config cannot run at all; empty = it can.
std::string obstacle(const SelectionQuestion& question, const SelectionTarget& target,
                     const KernelConfig& config) {
  // A check, not an answer.
  if (config.family == Family::kReference) return "the reference only checks the others";
  if (question.must_split && !config.split_kv) return "does not split the keys, as was asked for";
  const auto rejection = reject(question.variant, config, *target.limits);
  return rejection ? "not legal here: " + rejection->reason : std::string();
}

bool holds(const std::vector<PassedOver>& list, const KernelConfig& config) {
  return std::any_of(list.begin(), list.end(),
                     [&](const PassedOver& entry) { return entry.config == config; });
}

/// Weighs the stored configs one after the other, and remembers what it passed over.
class Selector {
 public:
  Selector(const SelectionQuestion& question, const SelectionTarget& target,
           const std::vector<PassedOver>& failed)
      : question_(question), target_(target), failed_(failed) {}

  Verdict weigh(const Lookup& answer) {
    const auto failures =
        std::count_if(failed_.begin(), failed_.end(),
                      [&](const PassedOver& entry) { return entry.match == answer.match; });
    const auto known = std::find_if(failed_.begin(), failed_.end(), [&](const PassedOver& entry) {
      return entry.config == answer.config;
    });
    if (known != failed_.end()) return pass(answer, known->reason, Verdict::kNextConfig);
    if (failures >= kMostFailures) return Verdict::kNextPlace;
    const std::string wrong = obstacle(question_, target_, answer.config);
    if (!wrong.empty()) return pass(answer, wrong, Verdict::kNextConfig);
    if (is_shadowing_default(answer)) {
      return pass(answer,
                  fmt::format("tuned without {}, whose default is predicted {:.2f} times as fast",
                              enum_name(fallback()->family), loss(answer.config)),
                  Verdict::kNextPlace);
    }
    if (!is_for_this_place(answer) && loss(answer.config) > kMostPredictedLoss) {
      return pass(answer,
                  fmt::format("at this size predicted {:.2f} times as slow as the default",
                              loss(answer.config)),
                  Verdict::kNextPlace);
    }
    return Verdict::kTake;
  }

  std::vector<PassedOver> take_passed_over() { return std::move(passed_over_); }

 private:
  Verdict pass(const Lookup& answer, const std::string& reason, Verdict verdict) {
    if (passed_over_.size() < kMostPassedOver) {
      passed_over_.push_back({answer.config, answer.match, reason, answer.bucket});
    }
    return verdict;
  }

  /// Stored for this very bucket and device.
  bool is_for_this_place(const Lookup& answer) const {
    if (answer.match == Match::kExact) return true;
    return answer.match == Match::kPredicted && answer.bucket == question_.bucket;
  }

  /// Nobody looked at the default's family, and the model expects the default to be faster: without
  /// that tuning it would have been taken.
  bool is_shadowing_default(const Lookup& answer) {
    if (answer.families.empty() || !fallback()) return false;
    const bool was_tried =
        std::count(answer.families.begin(), answer.families.end(), fallback()->family) > 0;
    return !was_tried && answer.config.family != fallback()->family && loss(answer.config) > 1;
  }

  double seconds(const KernelConfig& config) const {
    return predict({question_.variant, representative(question_.bucket)}, config, *target_.limits)
        .seconds;
  }

  /// The default, where there is one that can run.
  const std::optional<KernelConfig>& fallback() {
    if (!fallback_) fallback_ = usable_default(question_, target_);
    return *fallback_;
  }

  /// Predicted time here, as a factor of the default's.
  double loss(const KernelConfig& config) {
    if (!fallback()) return 1;
    if (default_seconds_ == 0) default_seconds_ = seconds(*fallback());
    return default_seconds_ > 0 ? seconds(config) / default_seconds_ : 1;
  }

  const SelectionQuestion& question_;
  const SelectionTarget& target_;
  const std::vector<PassedOver>& failed_;
  std::vector<PassedOver> passed_over_;
  std::optional<std::optional<KernelConfig>> fallback_;  ///< nullopt = not asked for yet
  double default_seconds_ = 0;                           ///< 0 = not known yet
};

}  // namespace

bool is_usable(const SelectionQuestion& question, const SelectionTarget& target,
               const KernelConfig& config) {
  return obstacle(question, target, config).empty();
}

Choice select(const SelectionQuestion& question, const SelectionTarget& target,
              const ResultsStore* store, const std::vector<PassedOver>& failed) {
  Choice choice;
  if (store != nullptr) {
    Selector selector(question, target, failed);
    const auto found = store->find(question.variant, question.bucket, *target.device,
                                   [&](const Lookup& answer) { return selector.weigh(answer); });
    choice.passed_over = selector.take_passed_over();
    if (found) {
      choice.config = found->config;
      choice.match = found->match;
      choice.expected_regret = found->expected_regret;
      choice.partial = found->partial;
      choice.bucket = found->bucket;
      choice.device = found->device;
      return choice;
    }
  }
  choice.bucket = question.bucket;
  auto config = usable_default(question, target);
  if (!config) config = cheapest(question, target);
  if (config) {
    choice.config = *config;
    return choice;
  }
  throw Error(ErrorCode::kNoLegalConfig, "num_splits",
              "num_splits: no kernel that splits the keys is legal here; give 0 (automatic)");
}

bool is_transfer(const Choice& choice) {
  return choice.match == Match::kNearestSize || choice.match == Match::kOtherDevice;
}

std::optional<TransferRegret> measured_regret(const SelectionQuestion& question,
                                              const SelectionTarget& target,
                                              const ResultsStore& store, const Choice& choice) {
  if (!is_transfer(choice)) return std::nullopt;
  return transfer_regret(store.evidence_of(question.variant),
                         {choice.bucket, question.bucket, choice.device, *target.device});
}

std::string regret_text(const std::optional<TransferRegret>& regret) {
  if (!regret)
    return "how far from this place's own best is not known: nothing stored compares them";
  const auto percent = [](double ratio) { return 100 * (ratio - 1); };
  return fmt::format(
      "where such a winner was measured beside a place's own, it was {:.1f} % slower on average, "
      "{:.1f} % at worst ({} {})",
      percent(regret->mean), percent(regret->worst), regret->samples,
      regret->samples == 1 ? "sample" : "samples");
}

std::vector<Choice> fallbacks(const SelectionQuestion& question, const SelectionTarget& target,
                              const std::vector<PassedOver>& failed) {
  std::vector<Choice> choices;
  const auto offer = [&](const KernelConfig& config) {
    const bool known = std::any_of(choices.begin(), choices.end(),
                                   [&](const Choice& choice) { return choice.config == config; });
    if (known || holds(failed, config) || choices.size() == kMaxFallbacks) return;
    if (!is_usable(question, target, config)) return;
    Choice choice;
    choice.config = config;
    choice.bucket = question.bucket;
    choices.push_back(std::move(choice));
  };
  // fa2's after fa3's: what a compiler or a driver has against one kernel with TMA and WGMMA it may
  // have against each.
  for (const Family family : kDefaultFamilies) {
    auto config = default_config(family, question.variant, question.bucket, *target.limits);
    if (config) config = usable(*config, question, target);
    if (config) offer(*config);
  }
  for (const RankedConfig& candidate : ranked(question, target)) offer(candidate.config);
  return choices;
}

}  // namespace heddle
