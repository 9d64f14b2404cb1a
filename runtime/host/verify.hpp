#pragma once
// The host's counterpart of the tuner's gate: a kernel under several schedules against the
// reference.

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/host/attention.hpp"
#include "runtime/testing/compare.hpp"

namespace heddle {

/// A problem, its inputs and what is right.
struct HostCase {
  Problem problem;
  HostTensors tensors;
  AttentionResult reference;
  AttentionResult baseline;
};
/// Fills in both references.
HostCase make_host_case(const Problem& problem, HostTensors tensors);

struct HostVerifyOptions {
  std::uint64_t seed = 0;
  std::vector<Landing> landings{Landing::kLatest, Landing::kRandom};
  int cores = 0;
};

struct HostVerdict {
  Comparison comparison;          ///< of the first schedule
  std::vector<HostFault> faults;  ///< of the first schedule that had any
  HostRun run;                    ///< the first schedule's

  bool passed() const { return comparison.record.passed && faults.empty(); }
  /// What is wrong, in words; empty where nothing is.
  std::string explain() const;
};

/// Passes where no schedule shows a fault, all give the same bits, nothing between O's rows was
/// written, and the result obeys the numerical contract.
HostVerdict verify_on_host(const HostCase& host_case, const HostConfig& config,
                           const DeviceLimits& limits, const HostVerifyOptions& options);

}  // namespace heddle
