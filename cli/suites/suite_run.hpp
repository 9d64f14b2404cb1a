#pragma once
// What suites share while they run: options, device, the time that is left.

#include <chrono>
#include <memory>
#include <vector>

#include "cli/suites/peers.hpp"
#include "cli/suites/suite_bench.hpp"
#include "cli/suites/suites.hpp"
#include "cli/suites/sweep.hpp"

namespace heddle {

/// What a suite runs with, and what it was measured on.
struct SuiteRun {
  const BenchSuiteOptions& options;
  const ServiceFlags& services;
  const ProblemFlags& problem;
  Peers peers;
  Facts facts;          ///< the suite adds the device and the compiler
  bool failed = false;  ///< a cell was lost to an error; the rest is reported
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();

  std::vector<int> lengths() const {
    return options.lengths.empty() ? kSweepLengths : options.lengths;
  }
  /// Of --budget.
  bool has_time() const;
};

void add_nvrtc(SuiteRun& run, const Nvrtc& nvrtc);

/// Opens the GPU and says which it is.
std::unique_ptr<SuiteBench> open_bench(SuiteRun& run);

FamilyChooser chooser_of(const SuiteBench& bench);

/// All cells one after the other, with a line of progress. One that fails, or for which no time is
/// left, says so, and the others are measured all the same.
std::vector<SuiteTiming> measure_cells(SuiteRun& run, SuiteBench& bench,
                                       const std::vector<std::vector<SuiteCase>>& cells);

std::vector<SuiteCase> flat(const std::vector<std::vector<SuiteCase>>& cells);

}  // namespace heddle
