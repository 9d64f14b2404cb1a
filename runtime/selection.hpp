#pragma once
// Which config serves a problem: stored result, else the default. No device, no compiler.

#include <vector>

#include "generator/architecture.hpp"
#include "generator/bucket.hpp"
#include "generator/kernel_config.hpp"
#include "tuning_db/results_store.hpp"

namespace heddle {

struct SelectionQuestion {
  Variant variant;
  SizeBucket bucket;
  bool must_split = false;  ///< two or more splits were asked for: only split configs do
};

struct SelectionTarget {
  const DeviceLimits* limits = nullptr;
  const DeviceClass* device = nullptr;
};

struct Choice {
  KernelConfig config;
  Match match = Match::kDefault;
  double expected_regret = 1;  ///< factor of time, 1 = none known
};

/// The legality check on this very question; a stored winner that fails it is never used.
bool is_usable(const SelectionQuestion& question, const SelectionTarget& target,
               const KernelConfig& config);

/// The best stored config (`store` null = no database), else the default. Throws kNoLegalConfig.
Choice select(const SelectionQuestion& question, const SelectionTarget& target,
              const ResultsStore* store);

/// What to try, best first, when a chosen config would not compile or load: the default, then the
/// cheapest predicted ones. Never holds `failed`.
std::vector<Choice> fallbacks(const SelectionQuestion& question, const SelectionTarget& target,
                              const KernelConfig& failed);

}  // namespace heddle
