#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/end_to_end.hpp"
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

struct VerifyInput {
  Problem problem;
  HostTensors tensors;
  std::optional<AttentionInput> original;  ///< what e4m3 tensors were made from
};
/// The user's files, else random tensors of the kind asked for.
VerifyInput verify_input(const VerifyOptions& options);

/// The families of `--suite`, which brings its own problems: throws kInvalidArgument where one was
/// given too.
std::vector<Family> suite_families(const VerifyOptions& options);

/// The answer for a problem without output elements.
int report_empty(const VerifyOptions& options);

/// Prints a comparison and, where originals were given, the error against them; returns the exit
/// code.
int report_comparison(const VerifyOptions& options, const Problem& problem,
                      const KernelConfig& config, const Comparison& result,
                      const std::optional<EndToEndError>& end_to_end = std::nullopt);

/// `--device host`: the same kernels on this machine's CPU, every access checked.
int verify_on_cpu(const VerifyOptions& options);

}  // namespace heddle
