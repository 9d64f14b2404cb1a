#pragma once
// Nsight Compute's command line, where it is installed: what it is asked for one kernel, what it
// says.

#include <optional>
#include <string>
#include <vector>

#include "cli/services.hpp"
#include "cli/suites/suite_case.hpp"

namespace heddle {

/// Where PATH has `ncu`; empty = nowhere.
std::string find_profiler();

/// `ncu … heddle bench … --samples 1` for one config: the first call's kernels alone, as CSV in
/// units without prefixes. `collect` is what is asked of them.
std::vector<std::string> profiler_command(const std::string& profiler,
                                          const std::vector<std::string>& collect,
                                          const SuiteCase& entry, int launches,
                                          const std::vector<std::string>& services);

/// What it prints. nullopt where it fails (it may lack permission) or takes more than two minutes;
/// its own words go to standard error.
std::optional<std::string> profiler_output(const std::vector<std::string>& command);

/// "1,234.5" as ncu prints it.
std::optional<double> profiler_number(std::string text);

}  // namespace heddle
