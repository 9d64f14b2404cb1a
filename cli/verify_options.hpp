#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "cli/flags.hpp"
#include "cli/input_flags.hpp"
#include "cli/npy_flags.hpp"
#include "cli/services.hpp"
#include "runtime/testing/compare.hpp"
#include "runtime/testing/reference.hpp"

namespace heddle {

/// What `heddle verify` was asked.
struct VerifyOptions {
  ProblemFlags problem;
  KernelFlags kernel;
  TargetFlags target;
  ServiceFlags services;
  NpyFlags files;
  std::string device = "gpu";
  std::string host_compiler;
  InputFlags inputs;
  std::uint64_t seed = 0;
  bool suite = false;
  bool json = false;
};

/// The problem and its tensors: the user's files, else random ones of the kind asked for.
std::pair<Problem, HostTensors> verify_input(const VerifyOptions& options);

/// The families of `--suite`, which brings its own problems: throws kInvalidArgument where one was
/// given too.
std::vector<Family> suite_families(const VerifyOptions& options);

/// The answer for a problem without output elements.
int report_empty(const VerifyOptions& options);

/// Prints a comparison; returns the exit code.
int report_comparison(const VerifyOptions& options, const Problem& problem,
                      const KernelConfig& config, const Comparison& result);

/// `--device host`: the same kernels on this machine's CPU, every access checked.
int verify_on_cpu(const VerifyOptions& options);

}  // namespace heddle
