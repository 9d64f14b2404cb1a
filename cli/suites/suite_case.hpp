#pragma once
// What suites measure: kernels on problems, and what came of each.

#include <functional>
#include <string>
#include <vector>

#include "cli/suites/suite_report.hpp"
#include "generator/kernel_config.hpp"
#include "generator/launch_plan.hpp"
#include "generator/problem.hpp"
#include "tuning_db/records.hpp"

namespace heddle {

struct SuiteCase {
  std::string label;  ///< "fa2, 4 splits"
  Problem problem;
  KernelConfig config;
  Match match = Match::kDefault;  ///< how the config was come by
};

/// Which config a family gets for a problem.
using FamilyChooser = std::function<SuiteCase(const Problem&, Family)>;

struct SuiteTiming {
  double seconds = 0;  ///< median; 0 = not measured
  double spread_seconds = 0;
  double clock_mhz = 0;
  std::string failure;  ///< why it was not measured

  bool measured() const { return seconds > 0; }
};

/// Nothing where it was not measured.
inline Value seconds_of(const SuiteTiming& timing) {
  return timing.measured() ? Value(timing.seconds) : Value();
}
inline Value tflops_of(const SuiteCase& entry, const SuiteTiming& timing) {
  if (!timing.measured()) return {};
  return flop_count(entry.problem) / timing.seconds * 1e-12;
}

/// "label: why", a line for each case that was not measured.
std::vector<std::string> failure_notes(const std::vector<SuiteCase>& cases,
                                       const std::vector<SuiteTiming>& timings);

/// "batch 4, 16 heads, length 4096, d 128, causal".
std::string problem_words(const Problem& problem);

}  // namespace heddle
