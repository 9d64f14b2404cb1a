#include <algorithm>
#include <iostream>
#include <memory>
#include <random>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/ablation_report.hpp"
#include "cli/accuracy_report.hpp"
#include "cli/command.hpp"
#include "cli/gpu.hpp"
#include "cli/input_flags.hpp"
#include "cli/selection.hpp"
#include "cli/terminal.hpp"
#include "cli/workload_flags.hpp"
#include "generator/cost_model.hpp"
#include "generator/legality.hpp"
#include "tuner/config_kernels.hpp"
#include "tuner/race.hpp"

namespace heddle {
namespace {

struct BenchOptions {
  WorkloadFlags workload;
  KernelFlags kernel;
  ServiceFlags services;
  InputFlags inputs;
  std::string suite;
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
  const auto compiled = compile_config(compiler, problem.variant, config, device.limits());

  std::vector<Racer> racers(1);
  racers[0].kernels = load_config(device, problem.variant, config, compiled);
  racers[0].plan = plan_launch(problem, config, device.limits());
  const InputSets inputs(device, problem, racers[0].plan.workspace_bytes, std::random_device{}(),
                         options.inputs.resolve());
  racers[0].parameters = inputs.parameters(config, racers[0].plan);
  const auto spin = compiler.compile(spin_kernel_source(device.limits().architecture));
  Meter meter(device, spin->cubin);
  race(meter, racers, options.samples);
  result.timing = std::move(racers[0].timing);
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

/// A kernel ready to race; what the compiler says against it is only told.
Racer make_racer(const Device& device, Compiler& compiler, const Problem& problem,
                 const KernelConfig& config) {
  const auto compiled = compile_config(compiler, problem.variant, config, device.limits());
  if (compiled.rejection) {
    std::cerr << fmt::format("note: {}: {}\n", canonical_text(config), compiled.rejection->reason);
  }
  Racer racer;
  racer.kernels = load_config(device, problem.variant, config, compiled);
  racer.plan = plan_launch(problem, config, device.limits());
  return racer;
}

/// All kernels of the ablation interleaved: none leaves the race.
int run_pipeline_suite(const BenchOptions& options) {
  const auto device = open_gpu(options.services);
  Compiler compiler(options.services.compiler_options());
  const Problem problem = pipeline_problem();
  const auto kernels = pipeline_kernels();
  for (const AblationKernel& kernel : kernels) {
    const auto rejection = reject(problem.variant, kernel.config, device->limits());
    if (rejection) throw Error(ErrorCode::kNoLegalConfig, rejection->field, rejection->reason);
  }
  const InputSets inputs(*device, problem, 0, std::random_device{}());
  std::vector<Racer> racers;
  for (const AblationKernel& kernel : kernels) {
    racers.push_back(make_racer(*device, compiler, problem, kernel.config));
    racers.back().parameters = inputs.parameters(kernel.config, racers.back().plan);
  }
  const auto spin = compiler.compile(spin_kernel_source(device->limits().architecture));
  Meter meter(*device, spin->cubin);
  race(meter, racers, options.samples);
  std::vector<Timing> timings;
  for (Racer& racer : racers) timings.push_back(std::move(racer.timing));
  const PublishedAblation published = published_ablation();
  if (options.json) {
    std::cout << ablation_json(kernels, timings, published);
  } else {
    std::cout << device->device_class().name << "; " << options.samples
              << " rounds, interleaved\n\n"
              << ablation_table(kernels, timings, published);
  }
  return kExitDone;
}

int run_bench(const BenchOptions& options) {
  options.inputs.resolve();  // wrong ones are told on any machine
  if (options.suite == "fp8-accuracy") {
    return run_accuracy_suite(options.workload.problem(), options.json);
  }
  if (!options.suite.empty()) {
    if (options.workload.any_given() || options.kernel.any_given()) {
      throw Error(ErrorCode::kInvalidArgument, "suite",
                  fmt::format("--suite {} brings its own problem and kernels; leave the flags that "
                              "say others away",
                              options.suite));
    }
    return run_pipeline_suite(options);
  }
  auto problems = options.workload.problems();
  drop_empty(problems);
  const auto device = open_gpu(options.services);
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
  verb.add_option("--suite", options->suite,
                  "a fixed comparison instead of a problem: fa3-pipeline, the ablation of the "
                  "FlashAttention-3 paper; fp8-accuracy, what quantising to e4m3 costs (no GPU)")
      ->check(CLI::IsMember({"fa3-pipeline", "fp8-accuracy"}));
  verb.add_option("--samples", options->samples, "timed launches")->check(CLI::Range(1, kMaxCount));
  verb.add_flag("--json", options->json, "print JSON");
}

}  // namespace heddle
