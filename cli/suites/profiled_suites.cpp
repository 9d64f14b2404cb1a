#include "cli/suites/profiled_suites.hpp"

#include <fstream>

#include <fmt/format.h>

#include "cli/suites/bottlenecks.hpp"
#include "cli/suites/dram_counters.hpp"
#include "cli/suites/io_traffic.hpp"
#include "cli/suites/profiler.hpp"
#include "cli/suites/suite_run.hpp"
#include "cli/terminal.hpp"
#include "generator/cost_model.hpp"
#include "generator/legality.hpp"

namespace heddle {
namespace {

/// The profiler on one kernel after the other, and what came of it.
class Profiling {
 public:
  Profiling(const SuiteRun& run, std::vector<std::string> collect)
      : run_(run), collect_(std::move(collect)), profiler_(find_profiler()) {}

  bool possible() const { return !profiler_.empty(); }

  /// What it prints of that config's `launches` kernels.
  std::optional<std::string> output(const SuiteCase& entry, int launches) {
    if (!possible()) return std::nullopt;
    if (!run_.has_time()) {
      ++left_out_;
      return std::nullopt;
    }
    line_.update("profiling", asked_, asked_ + 1);  // how many follow, the caller knows
    ++asked_;
    const auto output = profiler_output(
        profiler_command(profiler_, collect_, entry, launches, run_.services.words()));
    if (output) keep(entry, *output);
    return output;
  }
  void count_read() { ++read_; }

  /// Where the counters come from: `what`, or why there are none.
  std::string how(const std::string& what) const {
    if (!possible()) return "none: Nsight Compute (ncu) is not on PATH";
    const std::string rest =
        left_out_ > 0 ? fmt::format("; {} kernels left out, no time left of --budget", left_out_)
                      : "";
    if (read_ == 0 && asked_ > 0) {
      return "none: ncu ran and told nothing (its messages are on standard error)" + rest;
    }
    return fmt::format("{}; {} of {} calls told{}", what, read_, asked_, rest);
  }

 private:
  /// All of it, beside the CSV: a profiler of another version may tell what is not looked for here.
  void keep(const SuiteCase& entry, const std::string& output) {
    if (run_.options.csv.empty()) return;
    std::ofstream file(run_.options.csv + ".ncu", kept_ ? std::ios::app : std::ios::trunc);
    file << "# " << entry.label << ", " << problem_words(entry.problem) << '\n' << output;
    kept_ = true;
  }

  const SuiteRun& run_;
  std::vector<std::string> collect_;
  std::string profiler_;
  ProgressLine line_{detect_terminal()};
  int asked_ = 0, read_ = 0, left_out_ = 0;
  bool kept_ = false;
};

}  // namespace

BenchSuiteReport run_io(SuiteRun& run) {
  const auto bench = open_bench(run);
  const auto cells = io_cases(run.lengths(), chooser_of(*bench));
  const auto cases = flat(cells);
  const auto timings = measure_cells(run, *bench, cells);
  Profiling profiling(run, dram_metrics());
  std::vector<IoMeasurement> measurements;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    IoMeasurement measurement{cases[i], timings[i], std::nullopt, 0, std::nullopt};
    if (!reject(cases[i].problem.variant, cases[i].config, bench->limits())) {
      measurement.asked_bytes = asked_bytes(cases[i], bench->limits());
      measurement.counted_bytes = counted_hbm_bytes(cases[i], bench->limits());
    }
    if (timings[i].measured() && is_profiled(cases[i].problem)) {
      const int launches = plan_launch(cases[i].problem, cases[i].config, bench->limits()).count;
      const auto output = profiling.output(cases[i], launches);
      if (output) measurement.counter_bytes = parse_dram_bytes(*output, launches);
      if (measurement.counter_bytes) profiling.count_read();
    }
    measurements.push_back(measurement);
  }
  return io_report(measurements,
                   profiling.how("dram__bytes_read.sum + dram__bytes_write.sum of Nsight Compute, "
                                 "one call, caches flushed before each kernel"),
                   run.peers);
}

BenchSuiteReport run_bottlenecks(SuiteRun& run) {
  const auto bench = open_bench(run);
  const DeviceLimits& limits = bench->limits();
  const auto cases = bottleneck_cases(chooser_of(*bench), [&](const Problem& problem) {
    const Choice choice = bench->choose(problem);
    return SuiteCase{{}, problem, choice.config, choice.match};
  });
  Profiling profiling(run, unit_sections());
  std::vector<Bottleneck> found;
  for (const SuiteCase& entry : cases) {
    found.push_back({entry, roofline(entry.problem, entry.config, limits),
                     predict(entry.problem, entry.config, limits).seconds, std::nullopt});
    const int launches = plan_launch(entry.problem, entry.config, limits).count;
    const auto output = profiling.output(entry, launches);
    if (!output) continue;
    const auto kernels = parse_unit_counters(*output);
    if (static_cast<int>(kernels.size()) != launches) continue;
    found.back().counters = whole_call(kernels);
    profiling.count_read();
  }
  return bottleneck_report(
      found, profiling.how("Nsight Compute's sections SpeedOfLight, "
                           "ComputeWorkloadAnalysis, SchedulerStats, WarpStateStats"));
}

}  // namespace heddle
