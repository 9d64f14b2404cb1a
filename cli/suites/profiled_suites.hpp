#pragma once
// The suites that ask Nsight Compute, where it is.

#include "cli/suites/suite_report.hpp"

namespace heddle {

struct SuiteRun;

BenchSuiteReport run_io(SuiteRun& run);
BenchSuiteReport run_bottlenecks(SuiteRun& run);

}  // namespace heddle
