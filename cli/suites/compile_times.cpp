#include "cli/suites/compile_times.hpp"

#include <chrono>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include "cli/flags.hpp"
#include "cli/suites/sweep.hpp"
#include "cli/terminal.hpp"
#include "generator/error.hpp"
#include "generator/legality.hpp"
#include "runtime/measure.hpp"
#include "tuner/config_kernels.hpp"

namespace heddle {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kSources{"compilers", "torch_first_call"};
constexpr const char* kThisRun = "this run";

/// A folder that goes with this object.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = (fs::temp_directory_path() / "heddle-compile-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) {
      throw Error(ErrorCode::kIo, "suite", "cannot make the folder '" + name + "'");
    }
    path_ = name;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// From config to cubins in a compiler with no memory of its own; and what NVRTC took of it.
std::pair<double, double> timed_compile(const SuiteCase& entry, const DeviceLimits& limits,
                                        const Compiler::Options& options, bool loads_nvrtc) {
  Compiler compiler(options);
  if (loads_nvrtc) compiler.nvrtc();  // once in a process, and no part of a kernel's time
  const auto start = std::chrono::steady_clock::now();
  const ConfigKernels kernels =
      compile_config(compiler, entry.problem.variant, entry.config, limits);
  const double seconds = seconds_since(start);
  double nvrtc = 0;
  for (const auto& part : kernels.parts) nvrtc += part->notes.seconds;
  return {seconds, nvrtc};
}

void add_case(std::vector<SuiteCase>& cases, const Problem& problem, Family family,
              const char* name, const DeviceLimits& limits) {
  SuiteCase entry;
  entry.problem = problem;
  entry.config = family_default(family, problem, limits);
  entry.label = fmt::format("{}, {}", name, panel_title(problem.variant));
  if (!reject(problem.variant, entry.config, limits)) cases.push_back(entry);
}

std::string range_of(const PeerFigure& figure) {
  if (figure.least == figure.most) return fmt::format("{:g} s", figure.most);
  return fmt::format("{:g} to {:g} s", figure.least, figure.most);
}

}  // namespace

std::vector<SuiteCase> compile_cases(const DeviceLimits& limits) {
  constexpr int kLength = 4096;
  std::vector<SuiteCase> cases;
  for (const int head_dim : {64, 128}) {
    for (const MaskKind mask : {MaskKind::kFull, MaskKind::kCausal}) {
      const Problem problem = sweep_problem(DataType::kBf16, head_dim, mask, kLength);
      for (const Family family : {Family::kUnfused, Family::kFa1, Family::kFa2, Family::kFa3}) {
        add_case(cases, problem, family, enum_name(family).data(), limits);
      }
      add_case(cases, sweep_problem(DataType::kE4m3, head_dim, mask, kLength), Family::kFa3, "fp8",
               limits);
    }
  }
  return cases;
}

CompileTimes measure_compile(const SuiteCase& entry, const DeviceLimits& limits,
                             const Compiler::Options& options, int runs) {
  std::vector<double> cold, nvrtc, warm;
  for (int run = 0; run < runs; ++run) {
    const ScratchFolder folder;
    Compiler::Options fresh = options;
    fresh.cache.path = (folder.path() / "cubins.db").string();
    const auto [seconds, inside] = timed_compile(entry, limits, fresh, true);
    cold.push_back(seconds);
    nvrtc.push_back(inside);
    warm.push_back(timed_compile(entry, limits, fresh, false).first);
  }
  constexpr double kMedian = 0.5;
  return {quantile(cold, kMedian), quantile(nvrtc, kMedian), quantile(warm, kMedian),
          kernel_parts(entry.config).count};
}

BenchSuiteReport compile_report(const std::vector<SuiteCase>& cases,
                                const std::vector<CompileTimes>& times, int runs,
                                const Peers& peers) {
  BenchSuiteReport report;
  report.suite = "compile";
  report.method = {
      "bf16 (fp8: e4m3), default kernels, from a configuration to the cubins of all its kernels; "
      "no GPU is used",
      fmt::format("wall time, median of {} run{}; cold: emit, NVRTC, store; warm: emit and read "
                  "from the cubin database; loading libnvrtc is in neither",
                  runs, runs == 1 ? "" : "s")};
  report.table = {{"kernel", "kernels", "cold", "of it NVRTC", "warm"}};
  report.records.columns = {"kernel",       "kernels", "cold_seconds", "nvrtc_seconds",
                            "warm_seconds", "source",  "config"};
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const CompileTimes& time = times[i];
    report.table.push_back({cases[i].label, std::to_string(time.kernels),
                            format_seconds(time.cold_seconds), format_seconds(time.nvrtc_seconds),
                            format_seconds(time.warm_seconds)});
    report.records.rows.push_back({cases[i].label, double(time.kernels), time.cold_seconds,
                                   time.nvrtc_seconds, time.warm_seconds, std::string(kThisRun),
                                   canonical_text(cases[i].config)});
  }
  for (const PeerFigure& figure : peers.compile_seconds) {
    report.table.push_back({figure.peer + " (peer)", "1", range_of(figure), "-", "-"});
    report.records.rows.push_back(
        {figure.peer, 1.0, figure.most, Value(), Value(), figure.source, Value()});
  }
  report.notes = peers.cited(kSources);
  return report;
}

Plot compile_plot(const CsvTable& csv, const Peers& peers) {
  Plot plot{
      .title = "From a configuration to its machine code",
      .y_name = "seconds",
      .logarithmic_y = true,
      .bar_series = {
          {"cold", Tint::kBlue}, {"from cache", Tint::kGreen}, {"others", Tint::kOrange, true}}};
  constexpr const char* kShown = ", d 128,";  // of all head dims the bars would fill pages
  plot.about = about_lines("bf16 (fp8: e4m3), default kernels, head dim 128", csv);
  for (std::size_t row = 0; row < csv.size(); ++row) {
    const bool is_ours = csv.text(row, "source") == kThisRun;
    if (is_ours && csv.text(row, "kernel").find(kShown) == std::string::npos) continue;
    BarGroup& group = group_of(plot, csv.text(row, "kernel"));
    add_bar(group, is_ours ? 0 : 2, csv.figure(row, "cold_seconds"));
    if (is_ours) add_bar(group, 1, csv.figure(row, "warm_seconds"));
  }
  add_sources(plot, "others (dashed, hollow): measured by others, the most where a range is known",
              peers, kSources);
  add_command(plot, csv);
  return plot;
}

}  // namespace heddle
