// fa3 on the named cases with e4m3 inputs: those of every type, and those about scales, means and
// the order of V's keys.
#include <catch2/catch.hpp>
#include <cstdio>

#include "generator/candidates.hpp"
#include "generator/legality.hpp"
#include "runtime/host/verify.hpp"
#include "runtime/testing/case_checks.hpp"

namespace heddle {
namespace {

/// What is wrong with the kernel on this case, or nothing.
std::string check(HostCompiler& compiler, const CaseInput& input, const KernelConfig& config,
                  const DeviceLimits& limits) {
  const HostConfig kernels = compile_for_host(compiler, input.problem.variant, config, limits);
  HostVerifyOptions options;
  options.landings = {Landing::kLatest};
  const HostVerdict verdict =
      verify_on_host(make_host_case(input.problem, input.tensors), kernels, limits, options);
  if (!verdict.passed()) return verdict.explain();
  const std::string wrong =
      check_expected_rows(input, {verdict.run.output, verdict.run.log_sum_exp});
  if (!wrong.empty() || !input.clean) return wrong;
  const HostRun clean =
      run_on_host(input.problem, kernels, limits, *input.clean, {{0, Landing::kLatest}, 0});
  if (!clean.faults.empty()) return clean.faults.front().describe();
  return check_clean_rows(input, {verdict.run.output, verdict.run.log_sum_exp},
                          {clean.output, clean.log_sum_exp});
}

}  // namespace

TEST_CASE("fa3 passes every named case of e4m3 inputs that it takes") {
  HostCompiler compiler;
  const DeviceLimits limits = find_architecture("sm_90a");
  int checked = 0, refused = 0;
  for (const CaseInput& input : all_cases(DataType::kE4m3)) {
    const KernelConfig config =
        default_config(input.problem.variant, bucket_of(input.problem.sizes), limits);
    INFO(input.name << " [" << canonical_text(input.problem.variant) << "] "
                    << canonical_text(config));
    if (reject(input.problem.variant, config, limits)) {
      ++refused;
      continue;
    }
    ++checked;
    CHECK(check(compiler, input, config, limits) == "");
  }
  std::printf("%d cases checked, %d not taken\n", checked, refused);
  CHECK(checked >= 40);
}

}  // namespace heddle
