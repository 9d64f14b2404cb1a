#pragma once
// `heddle bench --suite compile`: from a config to its cubins, cold and from the cache. No GPU.

#include <vector>

#include "cli/suites/peers.hpp"
#include "cli/suites/suite_case.hpp"
#include "cli/suites/suite_plot.hpp"
#include "generator/architecture.hpp"
#include "runtime/compiler.hpp"

namespace heddle {

/// The default kernels of every family, head dims 64 and 128, both masks; and of 8-bit inputs.
/// Those that are not legal on the architecture are left out.
std::vector<SuiteCase> compile_cases(const DeviceLimits& limits);

struct CompileTimes {
  double cold_seconds = 0;   ///< nothing cached: emit, NVRTC, store
  double nvrtc_seconds = 0;  ///< of those
  double warm_seconds = 0;   ///< emit and read from the cubin database, in a compiler of its own
  int kernels = 0;
};

/// Medians over `runs`; cubins go to a temporary database. Throws kNvrtcMissing or kCompileFailed.
CompileTimes measure_compile(const SuiteCase& entry, const DeviceLimits& limits,
                             const Compiler::Options& options, int runs);

BenchSuiteReport compile_report(const std::vector<SuiteCase>& cases,
                                const std::vector<CompileTimes>& times, int runs,
                                const Peers& peers);

/// Head dim 128 alone, and what others need.
Plot compile_plot(const CsvTable& csv, const Peers& peers);

}  // namespace heddle
