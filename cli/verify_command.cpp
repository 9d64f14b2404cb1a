#include <iostream>
#include <memory>
#include <random>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "cli/gpu.hpp"
#include "cli/terminal.hpp"
#include "cli/verify_options.hpp"
#include "runtime/testing/pooled.hpp"
#include "tuner/config_kernels.hpp"
#include "tuner/gate.hpp"
#include "tuner/verify_suite.hpp"

namespace heddle {
namespace {

int verify_suite(const VerifyOptions& options) {
  SuiteOptions suite;
  suite.families = suite_families(options);
  const auto device = open_gpu(options.services);
  Compiler compiler(options.services.compiler_options());
  suite.seed = options.seed;
  ProgressLine line(detect_terminal());
  const auto report = run_verify_suite(*device, compiler, suite, [&](int done, int total) {
    if (detect_terminal().interactive) line.update("verifying", done, total);
  });
  line.clear();
  for (const SuiteFailure& failure : report.failures) {
    std::cout << "FAILED " << failure.what << ": " << failure.why << '\n';
  }
  std::cout << fmt::format("{} checks, {} failed (seed {})\n", report.checks,
                           report.failures.size(), report.seed);
  return report.failures.empty() && report.checks > 0 ? kExitDone : kExitAnswerIsNo;
}

void require_known_device(const VerifyOptions& options) {
  if (options.device == "gpu" || options.device == "host") return;
  throw Error(ErrorCode::kInvalidArgument, "device",
              "--device: '" + options.device + "' is not one of: gpu, host");
}

int run_verify(const VerifyOptions& options) {
  require_known_device(options);
  if (options.device == "host") return verify_on_cpu(options);
  if (options.suite) return verify_suite(options);
  const auto [problem, tensors, original] = verify_input(options);  // wrong input is told anywhere
  if (original) {
    throw Error(ErrorCode::kUnsupported, "original_q",
                "--original-q: the error against originals is computed with --device host only so "
                "far; give that, or leave the originals out");
  }
  if (is_empty(problem.sizes)) return report_empty(options);
  const auto device = open_gpu(options.services);
  Compiler compiler(options.services.compiler_options());
  const KernelConfig config = options.kernel.resolve_runnable(problem, device->limits());
  const auto compiled = compile_config(compiler, problem.variant, config, device->limits());
  const auto kernels = load_config(*device, problem.variant, config, compiled);
  const DeviceReference expected = compute_reference(*device, compiler, problem, tensors);
  const Comparison result = verify_config(*device, {problem, tensors, expected}, config, *kernels);
  return report_comparison(options, problem, config, result);
}

}  // namespace

std::vector<Family> suite_families(const VerifyOptions& options) {
  if (options.problem.any_given() || options.files.given()) {
    throw Error(ErrorCode::kInvalidArgument, "suite",
                "--suite checks problems of its own; leave the problem's flags and files out, or "
                "--suite");
  }
  return options.kernel.families();
}

int report_empty(const VerifyOptions& options) {
  const char* text = "an empty problem: no output, nothing runs";
  if (options.json) {
    std::cout << nlohmann::json{{"passed", true}, {"explanation", text}}.dump(2) << '\n';
  } else {
    std::cout << "passed: " << text << '\n';
  }
  return kExitDone;
}

int report_comparison(const VerifyOptions& options, const Problem& problem,
                      const KernelConfig& config, const Comparison& result,
                      const std::optional<EndToEndError>& end_to_end) {
  const CheckRecord& record = result.record;
  const int code = record.passed ? kExitDone : kExitAnswerIsNo;
  if (options.json) {
    nlohmann::json json{{"passed", record.passed},
                        {"config", canonical_text(config)},
                        {"variant", canonical_text(problem.variant)},
                        {"sizes", canonical_text(problem.sizes)},
                        {"max_error", record.max_error},
                        {"baseline_max_error", record.baseline_max_error},
                        {"rms_error", record.rms_error},
                        {"baseline_rms_error", record.baseline_rms_error},
                        {"lse_error", record.lse_error},
                        {"explanation", result.explanation}};
    if (end_to_end) {
      json["end_to_end"] = {{"max_error", end_to_end->max_error},
                            {"rms_error", end_to_end->rms_error},
                            {"rounding_rms_error", end_to_end->rounding_rms_error},
                            {"output_rms", end_to_end->output_rms},
                            {"lse_error", end_to_end->log_sum_exp_error}};
    }
    std::cout << json.dump(2) << '\n';
    return code;
  }
  std::cout << fmt::format(
      "{}: {}\nO   max error {:.3e} (fp32 baseline {:.3e}), RMS {:.3e} (baseline {:.3e})\n"
      "LSE max error {:.3e}\n",
      record.passed ? "passed" : "FAILED", full_text(config), record.max_error,
      record.baseline_max_error, record.rms_error, record.baseline_rms_error, record.lse_error);
  if (end_to_end) {
    std::cout << fmt::format(
        "against the originals: O max error {:.3e}, RMS {:.3e} of {:.3e} (by rounding Q, K and V "
        "alone {:.3e}), LSE max error {:.3e}\n",
        end_to_end->max_error, end_to_end->rms_error, end_to_end->output_rms,
        end_to_end->rounding_rms_error, end_to_end->log_sum_exp_error);
  }
  if (!result.explanation.empty()) std::cout << result.explanation << '\n';
  return code;
}

VerifyInput verify_input(const VerifyOptions& options) {
  if (options.files.given()) {
    AttentionInput input = options.files.read(options.problem);
    std::optional<AttentionInput> original = options.files.read_originals(input.problem);
    return {input.problem, std::move(input.tensors), std::move(original)};
  }
  const Problem asked = options.problem.resolve();
  const Problem problem = with_pooled_outputs(asked);
  const InputOptions inputs = options.inputs.resolve();
  const std::uint64_t seed = options.seed ? options.seed : std::random_device{}();
  if (!options.json) {
    std::cout << "inputs " << options.inputs.kind() << ", seed " << seed;
    if (problem.sizes.batch != asked.sizes.batch) {
      std::cout << ", batch " << problem.sizes.batch << " for outputs enough to judge by";
    }
    std::cout << '\n';
  }
  return {problem, make_inputs(problem, inputs.kind, seed, inputs.rise), std::nullopt};
}

void register_verify(const CommandSink& sink) {
  auto options = std::make_shared<VerifyOptions>();
  CLI::App& verb = sink.add("verify", "run a kernel against the float64 reference",
                            [options] { return run_verify(*options); });
  options->problem.add_to(verb);
  options->kernel.add_to(verb);
  options->target.add_to(verb);
  options->services.add_to(verb);
  options->files.add_to(verb);
  options->files.add_originals_to(verb);
  verb.add_option("--device", options->device,
                  "gpu, or host: the same kernels on this CPU, with every access checked");
  verb.add_option("--host-compiler", options->host_compiler,
                  "C++ compiler for --device host (default: $HEDDLE_HOST_CXX, clang++, g++)");
  options->inputs.add_to(verb);
  verb.add_option("--seed", options->seed, "of the random inputs (0 = drawn afresh)");
  verb.add_flag("--suite", options->suite, "the whole correctness matrix instead of one problem");
  verb.add_flag("--json", options->json, "print JSON");
}

}  // namespace heddle
