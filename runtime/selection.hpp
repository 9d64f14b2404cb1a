#pragma once
// Which config serves a problem: stored result, else the default. No device, no compiler.

#include <optional>
#include <string>
#include <vector>

#include "generator/architecture.hpp"
#include "generator/bucket.hpp"
#include "generator/kernel_config.hpp"
#include "tuning_db/results_store.hpp"
#include "tuning_db/transfer_regret.hpp"

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

/// A stored config that came before the choice and does not serve.
struct PassedOver {
  KernelConfig config;
  Match match = Match::kDefault;
  std::string reason;
  SizeBucket bucket;  ///< what the evidence is for
};

struct Choice {
  KernelConfig config;
  Match match = Match::kDefault;
  double expected_regret = 1;  ///< factor of time, 1 = none known
  SizeBucket bucket;           ///< what the stored evidence is for
  DeviceClass device;          ///< and where it is from
  bool partial = false;        ///< the best so far of a tuning that did not come to its end
  std::vector<PassedOver> passed_over;  ///< the first of them, as looked at
};

/// The legality check on this very question; a stored winner that fails it is never used.
bool is_usable(const SelectionQuestion& question, const SelectionTarget& target,
               const KernelConfig& config);

/// The first of these that serves here: measured for this size; measured for the nearest sizes,
/// then on other devices, where the cost model expects it to do well here too; predicted; the
/// default. `store` null = no database. `failed`: chosen before, but would not compile or load;
/// after kMostFailures of one kind of match the next kind has its turn. Throws kNoLegalConfig.
Choice select(const SelectionQuestion& question, const SelectionTarget& target,
              const ResultsStore* store, const std::vector<PassedOver>& failed = {});
inline constexpr int kMostFailures = 2;

/// Whether it was measured elsewhere: for another size, or on another device.
bool is_transfer(const Choice& choice);
/// What choices like this one have cost where that was measured; nullopt where nothing says, and
/// for what is no transfer. Reads all rows of the variant: for people, not for serving.
std::optional<TransferRegret> measured_regret(const SelectionQuestion& question,
                                              const SelectionTarget& target,
                                              const ResultsStore& store, const Choice& choice);
/// "… 2.1 % slower on average, 4 % at worst (12 samples)", or that nothing is known.
std::string regret_text(const std::optional<TransferRegret>& regret);

/// What to try, best first, when no stored config compiles and loads: the default, fa2's
/// where that is another's, then the cheapest predicted ones. Never holds a failed one.
std::vector<Choice> fallbacks(const SelectionQuestion& question, const SelectionTarget& target,
                              const std::vector<PassedOver>& failed);

}  // namespace heddle
