#pragma once
// `heddle bench --suite fa3-pipeline`: fa3 with a part of its pipeline off.

#include <string>
#include <vector>

#include "cli/suites/peers.hpp"
#include "cli/suites/suite_case.hpp"
#include "cli/suites/suite_plot.hpp"
#include "tuner/pipeline_suite.hpp"

namespace heddle {

/// All of them on the paper's problem: they are measured together, none leaves the race.
std::vector<SuiteCase> ablation_cases(const std::vector<AblationKernel>& kernels);

/// A row for each ablation, a column for each tile: TFLOP/s and half the interquartile range; then
/// the best tile, its share of the best that has all on, and the same as published. `timings` are
/// those of `kernels`, in order.
BenchSuiteReport ablation_report(const std::vector<AblationKernel>& kernels,
                                 const std::vector<SuiteTiming>& timings, const Peers& peers);

/// The best tile of each ablation beside what was published.
Plot ablation_plot(const CsvTable& csv, const Peers& peers);

}  // namespace heddle
