#pragma once
// `heddle bench --suite fp8-accuracy`: needs no GPU.

#include "cli/suites/peers.hpp"
#include "cli/suites/suite_plot.hpp"
#include "cli/suites/suite_report.hpp"
#include "generator/problem.hpp"
#include "runtime/testing/fp8_accuracy.hpp"

namespace heddle {

class ProblemFlags;

/// The problem that the flags say: sizes, head_dim and mask alone. Throws kInvalidArgument for
/// more, and for a problem without outputs or keys.
Problem accuracy_problem(const ProblemFlags& flags);

inline constexpr std::uint64_t kAccuracySeed = 1;

BenchSuiteReport accuracy_report(const Problem& problem, const AccuracyTable& table,
                                 const Peers& peers);

/// The paper's inputs alone.
Plot accuracy_plot(const CsvTable& csv, const Peers& peers);

}  // namespace heddle
