#pragma once
// `heddle bench --suite fa1-io`: what goes between the chip and HBM, against length.

#include <optional>
#include <vector>

#include "cli/suites/peers.hpp"
#include "cli/suites/suite_case.hpp"
#include "cli/suites/suite_plot.hpp"
#include "generator/architecture.hpp"

namespace heddle {

/// The unfused family, fa1, fa2 and fa3 over lengths, then on the problem of the FlashAttention
/// paper: 16 heads of 64 columns. Grouped by problem.
std::vector<std::vector<SuiteCase>> io_cases(const std::vector<int>& lengths,
                                             const FamilyChooser& choose);

/// Bytes that the kernels of one call ask of global memory, full mask, no splits, by the formulas
/// of docs/architecture.md: K and V once for each query tile. Caches serve some of it. nullopt with
/// a split.
std::optional<double> asked_bytes(const SuiteCase& entry, const DeviceLimits& limits);

/// Bytes with HBM of one call, as the cost model counts them, caches included.
double counted_hbm_bytes(const SuiteCase& entry, const DeviceLimits& limits);

struct IoMeasurement {
  SuiteCase entry;
  SuiteTiming timing;
  std::optional<double> asked_bytes;
  double counted_bytes = 0;
  std::optional<double> counter_bytes;  ///< of the profiler
};

/// `profiler`: how the counters were read, or why they were not.
BenchSuiteReport io_report(const std::vector<IoMeasurement>& measurements,
                           const std::string& profiler, const Peers& peers);

/// Whether it is the paper's problem.
bool is_io_paper_problem(const Problem& problem);
/// Whether its counters are read: a profiler takes its seconds for each.
bool is_profiled(const Problem& problem);

/// The sweep: bytes and time; the paper's problem is no point of it.
Plot io_plot(const CsvTable& csv, const Peers& peers);

}  // namespace heddle
