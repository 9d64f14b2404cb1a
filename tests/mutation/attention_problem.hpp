#pragma once
// A small problem of attention, whose results are compared with float64.

#include <optional>

#include "generator/architecture.hpp"
#include "runtime/host/attention.hpp"
#include "tests/mutation/prepared_problem.hpp"
#include "tests/mutation/problems.hpp"

namespace heddle::mutation {

class AttentionProblem : public PreparedProblem {
 public:
  /// `compiler`: of the config that gives the same bits, where there is one.
  AttentionProblem(SmallProblem small, HostCompiler& compiler);

  std::string check(const HostKernels& kernels) const override;

 private:
  HostRun run(const HostConfig& kernels, const HostTensors& tensors,
              const Schedule& schedule) const;
  std::string check_run(const HostRun& run) const;
  std::string compare_with_clean(const HostRun& run, const HostRun& clean) const;

  SmallProblem small_;
  DeviceLimits limits_;
  Problem stated_;  ///< what the results are compared with
  AttentionResult reference_;
  AttentionResult baseline_;
  AttentionResult clean_reference_;
  std::optional<HostRun> alike_;  ///< by the config that gives the same bits
};

}  // namespace heddle::mutation
