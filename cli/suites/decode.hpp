#pragma once
// `heddle bench --suite decode`: one query a sequence, GB/s of K and V.

#include <functional>
#include <vector>

#include "cli/suites/peers.hpp"
#include "cli/suites/suite_case.hpp"
#include "cli/suites/suite_plot.hpp"

namespace heddle {

/// The shapes of peers.yaml's decode table, each with the kernel that is selected for it.
std::vector<SuiteCase> decode_cases(const Peers& peers,
                                    const std::function<SuiteCase(const Problem&)>& choose);

/// K and V, read once.
double key_value_bytes(const Problem& problem);

BenchSuiteReport decode_report(const std::vector<SuiteCase>& cases,
                               const std::vector<SuiteTiming>& timings, const Peers& peers);

/// Bars of each shape, heddle's and those of peers.
Plot decode_plot(const CsvTable& csv, const Peers& peers);

}  // namespace heddle
