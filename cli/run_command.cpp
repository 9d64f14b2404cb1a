#include <iostream>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/command.hpp"
#include "cli/gpu.hpp"
#include "cli/npy_flags.hpp"
#include "cli/selection.hpp"
#include "tuner/config_kernels.hpp"
#include "tuner/problem_buffers.hpp"

namespace heddle {
namespace {

struct RunOptions {
  ProblemFlags problem;
  KernelFlags kernel;
  ServiceFlags services;
  NpyFlags files;
  std::string output;
  std::string log_sum_exp;
};

int run_run(const RunOptions& options) {
  if (!options.files.given() || options.output.empty()) {
    throw Error(ErrorCode::kInvalidArgument, "q", "run needs --q, --k, --v and --output files");
  }
  const AttentionInput input = options.files.read(options.problem);
  const auto device = open_gpu(options.services);
  Compiler compiler(options.services.compiler_options());
  const KernelConfig config = choose_config(options.kernel, options.services, input.problem,
                                            {device->limits(), device->device_class()})
                                  .config;
  const auto compiled = compile_config(compiler, input.problem.variant, config, device->limits());
  const auto kernels = load_config(*device, input.problem.variant, config, compiled);
  const LaunchPlan plan = plan_launch(input.problem, config, device->limits());
  ProblemBuffers buffers(*device, input.problem, plan.workspace_bytes);
  buffers.upload(input.tensors);
  device->make_current();
  kernels->launch(plan, fill_parameters(input.problem, config, plan, buffers.pointers()), nullptr);
  device->synchronize();
  write_npy_output(options.output, input.problem, buffers.output());
  if (!options.log_sum_exp.empty()) {
    write_npy_log_sum_exp(options.log_sum_exp, input.problem, buffers.log_sum_exp());
  }
  std::cerr << fmt::format("wrote {} with {}\n", options.output, full_text(config));
  return kExitDone;
}

}  // namespace

void register_run(const CommandSink& sink) {
  auto options = std::make_shared<RunOptions>();
  CLI::App& verb = sink.add("run", "run attention on .npy Q, K, V; write O (and LSE) .npy",
                            [options] { return run_run(*options); });
  options->problem.add_to(verb);
  options->kernel.add_to(verb);
  options->services.add_to(verb);
  options->files.add_to(verb);
  verb.add_option("--output,-o", options->output, "O as .npy [batch, heads, seqlen_q, head_dim]")
      ->group("Files");
  verb.add_option("--lse", options->log_sum_exp, "LSE as .npy [batch, heads, seqlen_q], fp32")
      ->group("Files");
}

}  // namespace heddle
