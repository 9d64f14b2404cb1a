#include "cli/measure_configs.hpp"

#include <algorithm>
#include <iostream>
#include <random>

#include <fmt/format.h>

#include "tuner/config_kernels.hpp"
#include "tuner/race.hpp"

namespace heddle {
namespace {

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

}  // namespace

std::vector<Timing> measure_configs(const Device& device, Compiler& compiler,
                                    const Problem& problem,
                                    const std::vector<KernelConfig>& configs, int samples,
                                    const InputOptions& options) {
  std::vector<Racer> racers;
  std::size_t workspace = 0;
  for (const KernelConfig& config : configs) {
    racers.push_back(make_racer(device, compiler, problem, config));
    workspace = std::max(workspace, racers.back().plan.workspace_bytes);
  }
  const InputSets inputs(device, problem, workspace, std::random_device{}(), options);
  for (std::size_t i = 0; i < configs.size(); ++i) {
    racers[i].parameters = inputs.parameters(configs[i], racers[i].plan);
  }
  const auto spin = compiler.compile(spin_kernel_source(device.limits().architecture));
  Meter meter(device, spin->cubin);
  race(meter, racers, samples);
  std::vector<Timing> timings;
  for (Racer& racer : racers) timings.push_back(std::move(racer.timing));
  return timings;
}

}  // namespace heddle
