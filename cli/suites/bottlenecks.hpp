#pragma once
// The suite `bottlenecks`: ten problems, the ceiling that explain names for each, and beside it the
// unit that the profiler finds busiest.

#include <optional>
#include <vector>

#include "cli/suites/suite_case.hpp"
#include "cli/suites/suite_plot.hpp"
#include "cli/suites/unit_counters.hpp"
#include "generator/explain/roofline.hpp"

namespace heddle {

/// From the papers' sweep, with the family that each is about; decoding as any caller gets it.
std::vector<SuiteCase> bottleneck_cases(const FamilyChooser& choose,
                                        const std::function<SuiteCase(const Problem&)>& choose_any);

/// How the profiler bears a ceiling out.
enum class Agreement {
  kUnknown,  ///< no counters
  kPipe,     ///< the unit named is the busiest
  kNear,     ///< it is within five points of the busiest
  kStall,    ///< most warps wait for it, or nothing is busy and they wait for memory
  kNone
};
const char* agreement_word(Agreement agreement);

/// Of the ceilings that explain names (several in a tie) the one that does best.
Agreement agreement_of(const std::vector<std::string>& ceilings, const UnitCounters& counters);

struct Bottleneck {
  SuiteCase entry;
  Roofline roof;
  double predicted_seconds = 0;
  std::optional<UnitCounters> counters;
};

/// `profiler` says where the counters come from, or why there are none.
BenchSuiteReport bottleneck_report(const std::vector<Bottleneck>& found,
                                   const std::string& profiler);

/// Each problem's units.
Plot bottleneck_plot(const CsvTable& csv, const Peers& peers);

}  // namespace heddle
