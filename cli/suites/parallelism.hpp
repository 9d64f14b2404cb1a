#pragma once
// `heddle bench --suite fa2-parallelism`: few heads and long sequences, with blocks over heads
// alone (fa1), over query tiles too (fa2), and over parts of the keys (fa2 with splits).

#include <vector>

#include "cli/suites/peers.hpp"
#include "cli/suites/suite_case.hpp"
#include "cli/suites/suite_plot.hpp"
#include "generator/architecture.hpp"

namespace heddle {

/// Grouped by problem: fa1, fa2, fa2 in splits. Each family has one kernel for all: what it gets
/// for 16 heads of a long sequence, split or not.
std::vector<std::vector<SuiteCase>> parallelism_cases(const FamilyChooser& choose);

/// What a launch keeps busy, predicted.
struct Occupancy {
  double blocks = 0;
  int blocks_per_sm = 0;
  double waves = 0;
  double busy_sms = 0;      ///< share of the SMs that have a block at all
  double warp_slots = 0;    ///< share of the SMs' places for warps that are taken at best
  double shared_bytes = 0;  ///< that all blocks move through shared memory, by the cost model
  double seconds = 0;
};
Occupancy occupancy_of(const SuiteCase& entry, const DeviceLimits& limits);

BenchSuiteReport parallelism_report(const std::vector<SuiteCase>& cases,
                                    const std::vector<SuiteTiming>& timings,
                                    const DeviceLimits& limits, const Peers& peers);

/// Milliseconds of each kernel on each shape.
Plot parallelism_plot(const CsvTable& csv, const Peers& peers);

}  // namespace heddle
