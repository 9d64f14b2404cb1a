#pragma once
// How busy each unit of the GPU was during a kernel, and what its warps waited for, by Nsight
// Compute.

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace heddle {

/// What explain's ceilings are made of.
enum class GpuUnit { kTensor, kExponential, kIssue, kShared, kL2, kHbm };
constexpr std::size_t kGpuUnitCount = 6;
/// As explain calls the ceiling.
const char* ceiling_of(GpuUnit unit);

/// One kernel, or several by the time that each took.
struct UnitCounters {
  double seconds = 0;
  std::array<std::optional<double>, kGpuUnitCount> busy;  ///< percent of what the unit can do
  std::optional<double> fma, alu;                         ///< of the pipes, percent
  std::map<std::string, double> stalls;  ///< warps that wait, for each instruction issued

  std::optional<double> of(GpuUnit unit) const { return busy[static_cast<std::size_t>(unit)]; }
  /// The unit with the highest figure; nullopt where there is none.
  std::optional<GpuUnit> busiest() const;
  /// What most warps wait for; empty where it is not known. Being issued is no wait.
  std::string top_stall() const;
};

/// What the profiler is asked for: its own sections, which name for each GPU what that one has (a
/// metric asked for by name that is not there ends the profiler).
std::vector<std::string> unit_sections();

/// A kernel each, in the order of their launches, out of all that ncu printed with those.
std::vector<UnitCounters> parse_unit_counters(const std::string& output);

/// Weighted by time; stalls likewise.
UnitCounters whole_call(const std::vector<UnitCounters>& kernels);

}  // namespace heddle
