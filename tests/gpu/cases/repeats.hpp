#pragma once
// One input, run again and again: what changes from run to run.

#include <functional>

#include "tests/gpu/cases/checks.hpp"

namespace heddle {

/// The fastest config of every way, and of fa3 where the device has it.
std::vector<KernelRequest> every_family(const Problem& problem, const DeviceLimits& limits);

/// Buffers with random inputs, and a copy of what the first run gave.
class RepeatedRuns {
 public:
  RepeatedRuns(const Gpu& gpu, const SmallKernels& kernels, Kernel kernel);

  /// Causal, with ragged tiles; three splits where keys are split.
  static Problem problem();
  /// The first run's outputs against float64. Says what is wrong.
  std::string check_values() const;
  /// 32-bit words of O and LSE that differed from the first run's, over all runs.
  std::uint64_t differences(int runs) const;
  /// The same where run `i` is launched by the caller, which is given the parameters to launch
  /// with.
  using Launch =
      std::function<void(int i, const LaunchPlan&, const AttentionParameters&, DriverStream)>;
  std::uint64_t differences(int runs, const Launch& launch) const;
  bool guards_intact() const { return buffers_.guards_intact(); }

 private:
  std::size_t output_bytes() const;
  std::size_t log_sum_exp_bytes() const;
  LaunchPlan plan() const { return plan_launch(problem_, kernel_.config, gpu_.limits()); }

  const Gpu& gpu_;
  const SmallKernels& kernels_;
  const Problem problem_ = problem();
  const Kernel kernel_;
  ProblemBuffers buffers_;
  DeviceBuffer first_output_, first_log_sum_exp_;
  NonBlockingStream stream_;
};

}  // namespace heddle
