#include "cli/suites/suites.hpp"

#include <algorithm>
#include <filesystem>
#include <iostream>

#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/suites/ablation.hpp"
#include "cli/suites/accuracy.hpp"
#include "cli/suites/compile_times.hpp"
#include "cli/suites/decode.hpp"
#include "cli/suites/generations.hpp"
#include "cli/suites/lengths.hpp"
#include "cli/suites/parallelism.hpp"
#include "cli/suites/profiled_suites.hpp"
#include "cli/suites/suite_run.hpp"
#include "cli/terminal.hpp"
#include "cli/text_file.hpp"
#include "generator/legality.hpp"
#include "generator/version.hpp"
#include "tuner/tuning_rows.hpp"

namespace heddle {
namespace {

BenchSuiteReport run_pipeline(SuiteRun& run) {
  const auto bench = open_bench(run);
  const auto kernels = pipeline_kernels();
  return ablation_report(kernels, measure_cells(run, *bench, {ablation_cases(kernels)}), run.peers);
}

/// The flags among those given that say this problem again.
std::string given_flags(const Problem& problem, const ProblemFlags& flags) {
  const auto given = flags.names_given();
  std::string text;
  const auto add = [&](const auto& entry, const auto& value) {
    if (given.count(std::string(entry.name)) == 0) return;
    text += ' ' + flag_name(entry.name) + ' ' + value_text(value);
  };
  for_each_field(problem.sizes, add);
  for_each_field(problem.variant, add);
  return text;
}

BenchSuiteReport run_accuracy(SuiteRun& run) {
  const Problem problem = accuracy_problem(run.problem);
  run.facts.back().second += given_flags(problem, run.problem);  // the command's
  ProgressLine line(detect_terminal());
  const AccuracyTable table = measure_accuracy(problem, kAccuracySeed, [&](int done, int total) {
    if (detect_terminal().interactive) line.update("measuring", done, total);
  });
  line.clear();
  return accuracy_report(problem, table, run.peers);
}

BenchSuiteReport run_parallelism(SuiteRun& run) {
  const auto bench = open_bench(run);
  const auto cells = parallelism_cases(chooser_of(*bench));
  return parallelism_report(flat(cells), measure_cells(run, *bench, cells), bench->limits(),
                            run.peers);
}

BenchSuiteReport run_generations(SuiteRun& run) {
  const auto bench = open_bench(run);
  const auto cells = generation_cases(run.lengths(), chooser_of(*bench));
  return generation_report(flat(cells), measure_cells(run, *bench, cells), run.peers);
}

BenchSuiteReport run_decode(SuiteRun& run) {
  const auto bench = open_bench(run);
  const auto cases = decode_cases(run.peers, [&](const Problem& problem) {
    const Choice choice = bench->choose(problem);
    return SuiteCase{"heddle", problem, choice.config, choice.match};
  });
  std::vector<std::vector<SuiteCase>> cells;
  for (const SuiteCase& entry : cases) cells.push_back({entry});
  return decode_report(cases, measure_cells(run, *bench, cells), run.peers);
}

BenchSuiteReport run_compile_times(SuiteRun& run) {
  constexpr int kMostRuns = 3;
  const DeviceLimits limits = place_of({}, run.services).limits;
  const Compiler::Options options = run.services.compiler_options();
  add_nvrtc(run, *Nvrtc::load(options.nvrtc_path));
  run.facts.emplace_back("architecture", limits.architecture);
  auto cases = compile_cases(limits);
  const int runs = std::min(run.options.samples, kMostRuns);
  ProgressLine line(detect_terminal());
  std::vector<CompileTimes> times;
  for (const SuiteCase& entry : cases) {
    if (!run.has_time()) break;
    line.update("compiling", static_cast<int>(times.size()), static_cast<int>(cases.size()));
    times.push_back(measure_compile(entry, limits, options, runs));
  }
  line.clear();
  const std::size_t left = cases.size() - times.size();
  cases.resize(times.size());
  BenchSuiteReport report = compile_report(cases, times, runs, run.peers);
  if (left > 0) report.notes.push_back(fmt::format("{} kernels: no time left of --budget", left));
  return report;
}

BenchSuiteReport run_lengths(SuiteRun& run) {
  const std::string& path = run.options.from;
  if (path.empty()) {
    throw Error(ErrorCode::kInvalidArgument, "from",
                "--suite lengths draws what bench/compare.py measured: give its --csv file as "
                "--from FILE");
  }
  const CsvTable file(read_text_file(path), path);
  run.facts = lengths_facts(file);
  return lengths_report(file, run.peers);
}

struct SuiteEntry {
  const char* name;
  const char* help;
  BenchSuiteReport (*run)(SuiteRun&);
  bool takes_lengths = false;
};
constexpr SuiteEntry kSuites[] = {
    {"fa1-io", "traffic with HBM of unfused and fused attention", run_io, true},
    {"fa2-parallelism", "few heads, long sequences: blocks over tiles and splits", run_parallelism},
    {"fa3-pipeline", "the ablation of the FlashAttention-3 paper", run_pipeline},
    {"fp8-accuracy", "what quantising to e4m3 costs (no GPU)", run_accuracy},
    {"generations", "unfused, fa1, fa2, fa3, fp8 over the sweep", run_generations, true},
    {"decode", "GB/s of K and V", run_decode},
    {"bottlenecks", "the ceiling that explain names beside the profiler's", run_bottlenecks},
    {"compile", "cold and warm compile times (no GPU)", run_compile_times},
    {"lengths", "draws the CSV of bench/compare.py (no GPU)", run_lengths}};

const SuiteEntry& entry_of(const std::string& name) {
  return *std::find_if(std::begin(kSuites), std::end(kSuites),
                       [&](const SuiteEntry& entry) { return entry.name == name; });
}

std::string command_text(const BenchSuiteOptions& options) {
  std::string text = "heddle bench --suite " + options.name;
  if (options.samples != BenchSuiteOptions{}.samples)
    text += fmt::format(" --samples {}", options.samples);
  if (!options.lengths.empty()) text += fmt::format(" --sweep {}", fmt::join(options.lengths, ","));
  return text;
}

void require_sound(const BenchSuiteOptions& options, const SuiteEntry& entry) {
  if (!options.from.empty() && options.name != "lengths") {
    throw Error(ErrorCode::kInvalidArgument, "from",
                "--from is for --suite lengths; leave it out with --suite " + options.name);
  }
  if (!options.lengths.empty() && !entry.takes_lengths) {
    throw Error(ErrorCode::kInvalidArgument, "sweep",
                "--sweep is for suites that sweep (fa1-io, generations); leave it out with "
                "--suite " +
                    options.name);
  }
  for (const int length : options.lengths) {
    if (std::find(kSweepLengths.begin(), kSweepLengths.end(), length) != kSweepLengths.end()) {
      continue;
    }
    throw Error(ErrorCode::kInvalidArgument, "sweep",
                fmt::format("--sweep {}: not of the sweep; it has {}", length,
                            fmt::join(kSweepLengths, ", ")));
  }
}

}  // namespace

std::vector<std::string> suite_names() {
  std::vector<std::string> names;
  for (const SuiteEntry& entry : kSuites) names.emplace_back(entry.name);
  return names;
}

std::string suite_help() {
  std::string text = "a fixed comparison in place of a problem";
  for (const SuiteEntry& entry : kSuites) {
    text += fmt::format("{} {}: {}", &entry == kSuites ? ":" : ";", entry.name, entry.help);
  }
  return text;
}

int run_suite(const BenchSuiteOptions& options, const ServiceFlags& services,
              const ProblemFlags& problem) {
  const SuiteEntry& entry = entry_of(options.name);
  require_sound(options, entry);
  SuiteRun run{options, services, problem, load_peers(options.peers), {}};
  // Last the command, to which a suite may add.
  run.facts = {{"heddle", kVersion}, {"date", now_utc()}, {"command", command_text(options)}};
  const BenchSuiteReport report = entry.run(run);
  run.facts.emplace(run.facts.begin(), "suite", options.name);
  std::cout << (options.json ? report_json(report, run.facts) : report_text(report, run.facts));
  if (!options.csv.empty()) write_text_file("csv", options.csv, report_csv(report, run.facts));
  if (!options.svg.empty()) write_text_file("svg", options.svg, plot_svg(report.plot));
  if (!options.markdown.empty()) {
    const auto figure = std::filesystem::path(options.svg).filename().string();
    write_text_file("markdown", options.markdown, report_markdown(report, run.facts, figure));
  }
  return run.failed ? kExitAnswerIsNo : kExitDone;
}

}  // namespace heddle
