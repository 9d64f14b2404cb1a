#pragma once
// Bytes that DRAM really moved, by Nsight Compute.

#include <optional>
#include <string>
#include <vector>

namespace heddle {

/// What the profiler is asked for.
std::vector<std::string> dram_metrics();

/// The sum over all launches in what ncu printed; nullopt unless there are just so many.
std::optional<double> parse_dram_bytes(const std::string& output, int launches);

}  // namespace heddle
