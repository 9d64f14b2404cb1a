#include "cli/suites/unit_counters.hpp"

#include <algorithm>
#include <sstream>
#include <utility>

#include "cli/suites/csv_table.hpp"
#include "cli/suites/profiler.hpp"

namespace heddle {
namespace {

using Metrics = std::map<std::string, double>;

constexpr const char* kElapsed = ".avg.pct_of_peak_sustained_elapsed";
constexpr const char* kActive = ".avg.pct_of_peak_sustained_active";
constexpr const char* kStall = "issue_stalled_";
constexpr const char* kDuration = "gpu__time_duration.sum";

std::optional<double> find(const Metrics& metrics, const std::string& name) {
  const auto found = metrics.find(name);
  return found == metrics.end() ? std::nullopt : std::optional(found->second);
}

/// Of all cycles of the kernel, else of those in which an SM had work.
std::optional<double> share(const Metrics& metrics, const std::string& name) {
  const auto elapsed = find(metrics, name + kElapsed);
  return elapsed ? elapsed : find(metrics, name + kActive);
}

/// Shared memory and L1 are one memory, with ports of their own for each way through it.
std::optional<double> shared_memory_share(const Metrics& metrics) {
  std::optional<double> most;
  for (const char* name :
       {"l1tex__data_bank_reads", "l1tex__data_bank_writes", "l1tex__data_pipe_lsu_wavefronts"}) {
    const auto port = share(metrics, name);
    if (port) most = std::max(most.value_or(0), *port);
  }
  return most ? most : share(metrics, "l1tex__throughput");
}

std::optional<double> issue_share(const Metrics& metrics) {
  const auto whole = share(metrics, "sm__issue_active");
  return whole ? whole : share(metrics, "smsp__issue_active");
}

/// "long_scoreboard" of "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio".
std::string stall_name(const std::string& metric) {
  constexpr const char* kEnd = "_per_issue_active.ratio";
  const auto begin = metric.find(kStall), end = metric.find(kEnd);
  if (metric.rfind("smsp__", 0) != 0 || begin == std::string::npos || end == std::string::npos) {
    return {};
  }
  const auto first = begin + std::string(kStall).size();
  return metric.substr(first, end - first);
}

/// "ns", "usecond" …; 0 of what is no time.
double seconds_of_unit(const std::string& unit) {
  constexpr std::pair<char, double> kPrefixes[] = {{'n', 1e-9}, {'u', 1e-6}, {'m', 1e-3}, {'s', 1}};
  for (const auto& [prefix, seconds] : kPrefixes) {
    if (!unit.empty() && unit.front() == prefix) return seconds;
  }
  return 0;
}

UnitCounters counters_of(const Metrics& metrics, double time_unit) {
  UnitCounters counters;
  counters.seconds = find(metrics, kDuration).value_or(0) * time_unit;
  counters.busy = {share(metrics, "sm__pipe_tensor_cycles_active"),
                   share(metrics, "sm__inst_executed_pipe_xu"),
                   issue_share(metrics),
                   shared_memory_share(metrics),
                   share(metrics, "lts__throughput"),
                   share(metrics, "gpu__dram_throughput")};
  counters.fma = share(metrics, "sm__inst_executed_pipe_fma");
  counters.alu = share(metrics, "sm__inst_executed_pipe_alu");
  for (const auto& [name, value] : metrics) {
    const std::string stall = stall_name(name);
    if (!stall.empty()) counters.stalls[stall] = value;
  }
  return counters;
}

void add_weighted(std::optional<double>& sum, const std::optional<double>& value, double weight) {
  if (value) sum = sum.value_or(0) + weight * *value;
}

}  // namespace

const char* ceiling_of(GpuUnit unit) {
  constexpr const char* kNames[] = {"tensor", "exp", "issue", "shared memory", "L2", "HBM"};
  return kNames[static_cast<std::size_t>(unit)];
}

std::optional<GpuUnit> UnitCounters::busiest() const {
  const auto most = std::max_element(busy.begin(), busy.end());  // nullopt is below all
  if (!*most) return std::nullopt;
  return static_cast<GpuUnit>(most - busy.begin());
}

std::string UnitCounters::top_stall() const {
  std::string top;
  double most = 0;
  for (const auto& [name, warps] : stalls) {
    if (name == "selected" || warps <= most) continue;
    top = name;
    most = warps;
  }
  return top;
}

std::vector<std::string> unit_sections() {
  return {"--section", "SpeedOfLight",
          "--section", "ComputeWorkloadAnalysis",
          "--section", "SchedulerStats",
          "--section", "WarpStateStats",
          "--page",    "raw"};
}

std::vector<UnitCounters> parse_unit_counters(const std::string& output) {
  std::vector<UnitCounters> kernels;
  CsvRow names;
  double time_unit = 0;
  std::istringstream lines(output);  // heddle and ncu's messages print between them
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.front() != '"') continue;
    const CsvRow row = parse_csv(line).front();
    if (row.front() == "ID") names = row;
    if (row.size() != names.size()) continue;
    if (!profiler_number(row.front())) {  // the names, and below them the units
      const auto duration = std::find(names.begin(), names.end(), kDuration);
      if (duration != names.end()) time_unit = seconds_of_unit(row[duration - names.begin()]);
      continue;
    }
    Metrics metrics;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const auto value = profiler_number(row[i]);
      if (value) metrics[names[i]] = *value;
    }
    kernels.push_back(counters_of(metrics, time_unit));
  }
  return kernels;
}

UnitCounters whole_call(const std::vector<UnitCounters>& kernels) {
  UnitCounters whole;
  for (const UnitCounters& kernel : kernels) whole.seconds += kernel.seconds;
  for (const UnitCounters& kernel : kernels) {
    const double weight =
        whole.seconds > 0 ? kernel.seconds / whole.seconds : 1.0 / double(kernels.size());
    for (std::size_t i = 0; i < kGpuUnitCount; ++i) {
      add_weighted(whole.busy[i], kernel.busy[i], weight);
    }
    add_weighted(whole.fma, kernel.fma, weight);
    add_weighted(whole.alu, kernel.alu, weight);
    for (const auto& [name, warps] : kernel.stalls) whole.stalls[name] += weight * warps;
  }
  return whole;
}

}  // namespace heddle
