// heddle verify --device host
#include <iostream>
#include <random>

#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/terminal.hpp"
#include "cli/verify_options.hpp"
#include "runtime/host/suite.hpp"

namespace heddle {
namespace {

std::uint64_t seed_of(const VerifyOptions& options) {
  return options.seed != 0 ? options.seed : std::random_device{}();
}

/// Without --arch the newest architecture that heddle tunes for: the CPU has none of its own.
DeviceLimits limits_of(const VerifyOptions& options) {
  return options.target.given() ? options.target.resolve() : find_architecture("sm_90a");
}

int verify_host_suite(const VerifyOptions& options, HostCompiler& compiler) {
  HostSuiteOptions suite;
  suite.families = suite_families(options);
  suite.seed = seed_of(options);
  ProgressLine line(detect_terminal());
  const auto report = run_host_suite(compiler, limits_of(options), suite, [&](int done, int total) {
    if (detect_terminal().interactive) line.update("verifying", done, total);
  });
  line.clear();
  for (const HostSuiteFailure& failure : report.failures) {
    std::cout << "FAILED " << failure.what << ": " << failure.why << '\n';
  }
  std::cout << fmt::format("{} checks of {} kernels on the CPU, {} failed (seed {})\n",
                           report.checks, report.kernels, report.failures.size(), suite.seed);
  return report.failures.empty() && report.checks > 0 ? kExitDone : kExitAnswerIsNo;
}

}  // namespace

int verify_on_cpu(const VerifyOptions& options) {
  if (options.suite) {
    HostCompiler compiler({options.host_compiler});
    return verify_host_suite(options, compiler);
  }
  auto [problem, tensors, original] = verify_input(options);
  if (is_empty(problem.sizes)) return report_empty(options);
  const DeviceLimits limits = limits_of(options);
  const KernelConfig config = options.kernel.resolve_runnable(problem, limits);
  HostCompiler compiler({options.host_compiler});
  const HostConfig kernels = compile_for_host(compiler, problem.variant, config, limits);
  HostVerifyOptions verify;
  verify.seed = seed_of(options);
  verify.landings = {Landing::kLatest, Landing::kEarliest, Landing::kRandom};
  const HostCase host_case = make_host_case(problem, std::move(tensors));
  const HostVerdict verdict = verify_on_host(host_case, kernels, limits, verify);
  Comparison result = verdict.comparison;
  result.explanation = verdict.explain();
  std::optional<EndToEndError> end_to_end;
  if (original && !verdict.run.output.empty()) {
    end_to_end = end_to_end_error(*original, problem, host_case.reference, verdict.run.output,
                                  verdict.run.log_sum_exp);
  }
  return report_comparison(options, problem, config, result, end_to_end);
}

}  // namespace heddle
