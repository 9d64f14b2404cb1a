#pragma once
// Measures the cases of a suite on the GPU.

#include <memory>
#include <optional>
#include <vector>

#include "cli/selection.hpp"
#include "cli/services.hpp"
#include "cli/suites/suite_case.hpp"
#include "runtime/device.hpp"
#include "tuner/race.hpp"
#include "tuning_db/results_store.hpp"

namespace heddle {

class SuiteBench {
 public:
  /// Throws kDriverMissing or kDeviceMissing with what to install.
  SuiteBench(const ServiceFlags& services, int samples);
  ~SuiteBench();

  const Device& device() const { return *device_; }
  const DeviceLimits& limits() const { return device_->limits(); }
  Compiler& compiler() { return compiler_; }

  /// The fastest stored config of that family for this problem, or near it, else the family's
  /// default: what a user who asks for the family gets after tuning.
  Choice choose(const Problem& problem, Family family) const;
  /// What a user gets who asks for none. Throws kNoLegalConfig.
  Choice choose(const Problem& problem) const;

  /// Interleaved, on inputs that L2 does not hold; cases of equal problems share them. A case that
  /// is not legal, does not compile or does not fit into memory is left out and says why.
  std::vector<SuiteTiming> measure(const std::vector<SuiteCase>& cases);

 private:
  struct Entry;
  std::optional<Racer> prepare(const SuiteCase& entry, SuiteTiming& timing);
  void give_inputs(const std::vector<SuiteCase>& cases, std::vector<Entry>& entries,
                   std::vector<SuiteTiming>& timings);

  std::unique_ptr<Device> device_;
  Compiler compiler_;
  ResultsStore store_;
  std::unique_ptr<Meter> meter_;
  int samples_;
};

}  // namespace heddle
