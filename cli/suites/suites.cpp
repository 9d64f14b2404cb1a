#include "cli/suites/suites.hpp"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/suites/ablation.hpp"
#include "cli/suites/accuracy.hpp"
#include "cli/suites/bottlenecks.hpp"
#include "cli/suites/compile_times.hpp"
#include "cli/suites/decode.hpp"
#include "cli/suites/generations.hpp"
#include "cli/suites/io_traffic.hpp"
#include "cli/suites/lengths.hpp"
#include "cli/suites/parallelism.hpp"
#include "cli/suites/profiled_suites.hpp"
#include "cli/suites/suite_plot.hpp"
#include "cli/suites/suite_run.hpp"
#include "cli/terminal.hpp"
#include "cli/text_file.hpp"
#include "generator/legality.hpp"
#include "generator/version.hpp"
#include "tuner/tuning_rows.hpp"

namespace heddle {
namespace {

/// It measures nothing itself.
constexpr const char* kLengths = "lengths";

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
  const CsvTable file(read_text_file(path), path);
  run.facts = lengths_facts(file);
  return lengths_report(file, run.peers);
}

struct SuiteEntry {
  const char* name;
  const char* help;
  BenchSuiteReport (*run)(SuiteRun&);
  SuiteDrawing draw;
  bool takes_lengths = false;
};
constexpr SuiteEntry kSuites[] = {
    {"fa1-io", "traffic with HBM of unfused and fused attention", run_io, io_plot, true},
    {"fa2-parallelism", "few heads, long sequences: blocks over tiles and splits", run_parallelism,
     parallelism_plot},
    {"fa3-pipeline", "the ablation of the FlashAttention-3 paper", run_pipeline, ablation_plot},
    {"fp8-accuracy", "what quantising to e4m3 costs (no GPU)", run_accuracy, accuracy_plot},
    {"generations", "unfused, fa1, fa2, fa3, fp8 over the sweep", run_generations, generation_plot,
     true},
    {"decode", "GB/s of K and V", run_decode, decode_plot},
    {"bottlenecks", "the ceiling that explain names beside the profiler's", run_bottlenecks,
     bottleneck_plot},
    {"compile", "cold and warm compile times (no GPU)", run_compile_times, compile_plot},
    {kLengths, "draws the CSV of bench/compare.py (no GPU)", run_lengths, lengths_plot}};

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
  if (options.from.empty() && options.name == kLengths) {
    throw Error(ErrorCode::kInvalidArgument, "from",
                "--suite lengths draws what bench/compare.py measured: give its --csv file as "
                "--from FILE");
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

/// A measurement's flags say nothing where nothing is measured.
void require_drawing_alone(const BenchSuiteOptions& options) {
  const std::pair<const char*, bool> given[] = {
      {"csv", !options.csv.empty()},  {"markdown", !options.markdown.empty()},
      {"json", options.json},         {"sweep", !options.lengths.empty()},
      {"budget", options.budget > 0}, {"samples", options.samples != BenchSuiteOptions{}.samples}};
  for (const auto& [flag, is_given] : given) {
    if (!is_given) continue;
    throw Error(ErrorCode::kInvalidArgument, flag,
                fmt::format("--{}: --from {} is drawn again, nothing is measured; leave it out, or "
                            "leave --from out to measure",
                            flag, options.from));
  }
  if (options.svg.empty()) {
    throw Error(ErrorCode::kInvalidArgument, "svg",
                fmt::format("--from {} draws the plot again: give the file to write as --svg FILE",
                            options.from));
  }
}

/// The suite's own CSV that --from names; nothing where it is to measure, or where `lengths` is to
/// read bench/compare.py's.
std::optional<CsvTable> own_csv(const BenchSuiteOptions& options) {
  if (options.from.empty()) return std::nullopt;
  CsvTable csv(read_text_file(options.from), options.from);
  if (options.name == kLengths && !csv.has("suite")) return std::nullopt;
  require_suite(csv, options.name);
  return csv;
}

int draw_again(const BenchSuiteOptions& options, const SuiteEntry& entry, const CsvTable& csv) {
  require_drawing_alone(options);
  write_text_file("svg", options.svg, plot_svg(entry.draw(csv, load_peers(options.peers))));
  std::cout << fmt::format("{}: drawn from {}, {} lines\n", options.svg, options.from, csv.size());
  return kExitDone;
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
  if (const auto csv = own_csv(options)) return draw_again(options, entry, *csv);
  SuiteRun run{options, services, problem, load_peers(options.peers), {}};
  // Last the command, to which a suite may add.
  run.facts = {{"heddle", kVersion}, {"date", now_utc()}, {"command", command_text(options)}};
  const BenchSuiteReport report = entry.run(run);
  run.facts.emplace(run.facts.begin(), "suite", options.name);
  std::cout << (options.json ? report_json(report, run.facts) : report_text(report, run.facts));
  const std::string csv = report_csv(report, run.facts);
  if (!options.csv.empty()) write_text_file("csv", options.csv, csv);
  if (!options.svg.empty()) {
    // From the text, so that the file drawn again is this one to the byte.
    const std::string name = options.csv.empty() ? "--csv" : options.csv;
    write_text_file("svg", options.svg, plot_svg(entry.draw(CsvTable(csv, name), run.peers)));
  }
  if (!options.markdown.empty()) {
    const auto figure = std::filesystem::path(options.svg).filename().string();
    write_text_file("markdown", options.markdown, report_markdown(report, run.facts, figure));
  }
  return run.failed ? kExitAnswerIsNo : kExitDone;
}

}  // namespace heddle
