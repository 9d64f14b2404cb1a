#pragma once
// `heddle bench --suite generations`: unfused, fa1, fa2, fa3 and fp8 over the sweep.

#include <vector>

#include "cli/suites/peers.hpp"
#include "cli/suites/suite_case.hpp"
#include "cli/suites/suite_plot.hpp"

namespace heddle {

/// Five of each problem, in the order of their history; grouped by problem. Labels: the family, or
/// fp8.
std::vector<std::vector<SuiteCase>> generation_cases(const std::vector<int>& lengths,
                                                     const FamilyChooser& choose);

/// `cases` and `timings`: those of all problems, five by five.
BenchSuiteReport generation_report(const std::vector<SuiteCase>& cases,
                                   const std::vector<SuiteTiming>& timings, const Peers& peers);

/// A panel for each head dim and mask.
Plot generation_plot(const CsvTable& csv, const Peers& peers);

}  // namespace heddle
