#pragma once
// Bytes that DRAM really moved, by Nsight Compute's command line where it is installed.

#include <optional>
#include <string>
#include <vector>

#include "cli/services.hpp"
#include "cli/suites/suite_case.hpp"

namespace heddle {

/// Where PATH has `ncu`; empty = nowhere.
std::string find_profiler();

/// `ncu … heddle bench … --samples 1` for one config: the first call's kernels alone, DRAM bytes
/// read and written, as CSV with plain bytes.
std::vector<std::string> profiler_command(const std::string& profiler, const std::string& heddle,
                                          const SuiteCase& entry, int launches,
                                          const std::vector<std::string>& services);

/// The sum over all launches in what ncu printed; nullopt unless there are just so many.
std::optional<double> parse_dram_bytes(const std::string& output, int launches);

/// Runs it. nullopt where ncu fails (it may lack permission); its own words go to standard error.
std::optional<double> read_dram_bytes(const std::vector<std::string>& command, int launches);

/// This very program.
std::string own_path();

}  // namespace heddle
