#include <algorithm>
#include <iostream>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/bench_versus.hpp"
#include "cli/command.hpp"
#include "cli/gpu.hpp"
#include "cli/input_flags.hpp"
#include "cli/measure_configs.hpp"
#include "cli/selection.hpp"
#include "cli/suites/suites.hpp"
#include "cli/terminal.hpp"
#include "cli/workload_flags.hpp"
#include "generator/cost_model.hpp"

namespace heddle {
namespace {

struct BenchOptions {
  WorkloadFlags workload;
  KernelFlags kernel;
  ServiceFlags services;
  InputFlags inputs;
  BenchSuiteOptions suite;
  VersusOptions versus;
  int samples = 20;
  bool json = false;
};

struct BenchResult {
  NamedProblem problem;
  Choice choice;
  Timing timing;
  Prediction prediction;
};

BenchResult bench_one(const BenchOptions& options, const Device& device, Compiler& compiler,
                      const NamedProblem& named) {
  const Problem& problem = named.problem;
  BenchResult result{named, {}, {}, {}};
  result.choice = choose_config(options.kernel, options.services, problem,
                                {device.limits(), device.device_class()});
  const KernelConfig& config = result.choice.config;
  result.prediction = predict(problem, config, device.limits());
  result.timing = measure_configs(device, compiler, problem, {config}, options.samples,
                                  options.inputs.resolve())
                      .front();
  return result;
}

/// The time no kernel can beat: FLOPs at the tensor rate, or bytes at the memory's.
double roofline_seconds(const Problem& problem, Family family, const DeviceLimits& limits) {
  const double tensor_rate = tensor_flops_per_clock(family, problem.variant.dtype, limits) *
                             limits.sm_count * limits.clock_ghz * 1e9;
  return std::max(flop_count(problem) / tensor_rate,
                  minimal_bytes(problem) / limits.hbm_bytes_per_second);
}

void print_results(const std::vector<BenchResult>& results, const Device& device) {
  std::vector<std::vector<std::string>> rows{
      {"problem", "time", "spread", "TFLOP/s", "GB/s", "roofline", "clock MHz", "match", "config"}};
  for (const BenchResult& result : results) {
    const double seconds = result.timing.median_seconds;
    const Problem& problem = result.problem.problem;
    rows.push_back(
        {result.problem.name, format_seconds(seconds), format_seconds(result.timing.spread_seconds),
         fmt::format("{:.1f}", flop_count(problem) / seconds * 1e-12),
         fmt::format("{:.0f}", minimal_bytes(problem) / seconds * 1e-9),
         fmt::format("{:.0f} %",
                     100 * roofline_seconds(problem, result.choice.config.family, device.limits()) /
                         seconds),
         fmt::format("{:.0f}", result.timing.clock_mhz),
         std::string(enum_name(result.choice.match)), canonical_text(result.choice.config)});
  }
  std::cout << fmt::format("{}; median of samples timed by events, launch cost hidden\n\n",
                           device.device_class().name)
            << format_table(rows);
}

nlohmann::json to_json(const BenchResult& result) {
  return {{"problem", result.problem.name},
          {"variant", canonical_text(result.problem.problem.variant)},
          {"sizes", canonical_text(result.problem.problem.sizes)},
          {"config", canonical_text(result.choice.config)},
          {"match", std::string(enum_name(result.choice.match))},
          {"seconds", result.timing.median_seconds},
          {"spread_seconds", result.timing.spread_seconds},
          {"clock_mhz", result.timing.clock_mhz},
          {"predicted_seconds", result.prediction.seconds},
          {"flops", flop_count(result.problem.problem)},
          {"bytes", minimal_bytes(result.problem.problem)}};
}

int run_suite_alone(const BenchOptions& options) {
  const bool takes_problem = options.suite.name == "fp8-accuracy";
  const bool has_problem = options.workload.any_given() && !takes_problem;
  if (has_problem || options.kernel.any_given()) {
    throw Error(ErrorCode::kInvalidArgument, "suite",
                fmt::format("--suite {} brings its own problem and kernels; leave the flags that "
                            "say others away",
                            options.suite.name));
  }
  BenchSuiteOptions suite = options.suite;
  suite.samples = options.samples;
  suite.json = options.json;
  return run_suite(suite, options.services, options.workload.problem());
}

/// Flags that only a suite has.
void add_suite_flags(CLI::App& verb, BenchSuiteOptions& suite) {
  auto* name =
      verb.add_option("--suite", suite.name, suite_help())->check(CLI::IsMember(suite_names()));
  verb.add_option("--csv", suite.csv, "of a suite: file for a line for each measurement")
      ->needs(name);
  verb.add_option("--svg", suite.svg, "of a suite: file for its plot")->needs(name);
  verb.add_option("--markdown", suite.markdown,
                  "of a suite: file for its table with GPU, driver, date and command, as "
                  "docs/evidence.md has them")
      ->needs(name);
  verb.add_option("--budget", suite.budget,
                  "of a suite: begin nothing more after so many seconds; what is missing is named")
      ->check(wrong_seconds)
      ->needs(name);
  verb.add_option("--peers", suite.peers,
                  "of a suite: figures of others, in the form of bench/peers.yaml")
      ->needs(name);
  verb.add_option("--sweep", suite.lengths,
                  "of a suite that sweeps: only these lengths, as 1024,4096")
      ->delimiter(',')
      ->needs(name);
  verb.add_option(
          "--from", suite.from,
          "of a suite: draw the plot (--svg) of a CSV that it wrote before, no GPU; of --suite "
          "lengths also the CSV of bench/compare.py")
      ->needs(name);
}

/// Flags of a race between databases.
void add_versus_flags(CLI::App& verb, VersusOptions& versus) {
  auto* databases =
      verb.add_option(
              "--versus", versus.databases,
              "race the winner of --results beside those of these databases, or the fastest of "
              "these recordings (*.recording): what it costs over the fastest of them, "
              "with the noise")
          ->delimiter(',')
          ->check(CLI::ExistingFile)
          ->excludes(verb.get_option("--suite"));
  verb.add_option("--fastest", versus.fastest,
                  "beside each winner of --versus, so many of what was measured fastest there")
      ->check(CLI::Range(0, 100))
      ->needs(databases);
}

int run_databases(const BenchOptions& options, const Device& device,
                  const std::vector<NamedProblem>& problems) {
  VersusOptions versus = options.versus;
  versus.samples = options.samples;
  versus.inputs = options.inputs.resolve();
  versus.json = options.json;
  return run_versus(versus, options.services, device, problems);
}

/// What is wrong on any machine, told before a GPU is looked for.
void check_flags(const BenchOptions& options) {
  options.inputs.resolve();
  if (!options.versus.databases.empty() && options.kernel.any_given()) {
    throw Error(ErrorCode::kInvalidArgument, "versus",
                "--versus races the winners of databases; leave --family and --set away");
  }
}

int run_bench(const BenchOptions& options) {
  check_flags(options);
  if (!options.suite.name.empty()) return run_suite_alone(options);
  auto problems = options.workload.problems();
  drop_empty(problems);
  const auto device = open_gpu(options.services);
  if (!options.versus.databases.empty()) return run_databases(options, *device, problems);
  Compiler compiler(options.services.compiler_options());
  std::vector<BenchResult> results;
  for (const NamedProblem& problem : problems) {
    results.push_back(bench_one(options, *device, compiler, problem));
  }
  if (options.json) {
    auto list = nlohmann::json::array();
    for (const BenchResult& result : results) list.push_back(to_json(result));
    std::cout << list.dump(2) << '\n';
  } else {
    print_results(results, *device);
  }
  return kExitDone;
}

}  // namespace

void register_bench(const CommandSink& sink) {
  auto options = std::make_shared<BenchOptions>();
  CLI::App& verb =
      sink.add("bench", "measure the selected kernels: TFLOP/s, GB/s, share of the roofline",
               [options] { return run_bench(*options); });
  options->workload.add_to(verb);
  options->kernel.add_to(verb);
  options->services.add_to(verb);
  options->inputs.add_to(verb);
  add_suite_flags(verb, options->suite);
  add_versus_flags(verb, options->versus);
  verb.add_option("--samples", options->samples, "timed launches")->check(CLI::Range(1, kMaxCount));
  verb.add_flag("--json", options->json, "print JSON");
}

}  // namespace heddle
