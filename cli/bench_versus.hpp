#pragma once
// The winner of one database beside those of others, in turns on the same inputs: what a tuning has
// missed, where the others hold an exhaustive one, or whether two tunings agree. A recording serves
// in place of the exhaustive database that it came from.

#include <string>
#include <vector>

#include "cli/services.hpp"
#include "runtime/device.hpp"
#include "runtime/testing/inputs.hpp"
#include "tuner/named_problem.hpp"

namespace heddle {

struct VersusOptions {
  std::vector<std::string> databases;  ///< or recordings, which are named *.recording
  int fastest = 0;  ///< of each, beside its winner, so many of those that were measured fastest
  int samples = 20;
  InputOptions inputs;
  bool json = false;
};

/// Prints a line for each problem and a summary. Problems without a winner in one of them are named
/// and left out; returns kExitAnswerIsNo where that leaves none.
int run_versus(const VersusOptions& options, const ServiceFlags& services, const Device& device,
               const std::vector<NamedProblem>& problems);

}  // namespace heddle
