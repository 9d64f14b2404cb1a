#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "runtime/compiler.hpp"
#include "runtime/device.hpp"
#include "runtime/loaded_config.hpp"
#include "runtime/testing/compare.hpp"
#include "runtime/testing/element.hpp"
#include "runtime/testing/inputs.hpp"
#include "tuner/problem_buffers.hpp"

namespace heddle {

/// Float64 reference and fp32 baseline of a problem, computed on the device by the generated
/// reference kernels (checked themselves against the host's in the tests).
struct DeviceReference {
  AttentionResult reference;
  AttentionResult baseline;
};
DeviceReference compute_reference(const Device& device, Compiler& compiler, const Problem& problem,
                                  const HostTensors& tensors);

/// The configs of the two kernels that compute_reference() runs.
std::vector<KernelConfig> reference_configs();

/// What a tuned problem is checked by: its own lengths and a ragged size, with fewer sequences and
/// heads where that is enough, and more sequences where there would be too few outputs for an RMS.
std::array<Problem, 2> gate_problems(const Problem& tuned);

/// What Gate says of a kernel that wrote outside its tensors: nothing on that device is sure then.
constexpr std::string_view kGuardBandWritten = "a guard band around the tensors was written to";

/// What no kernel may pass that is wrong: fresh random inputs, poisoned outputs, guard bands, two
/// runs that must agree bit for bit, every element of O and LSE against the float64 reference.
class Gate {
 public:
  /// Checks by gate_problems(). The seed makes the inputs.
  Gate(const Device& device, Compiler& compiler, const Problem& problem, std::uint64_t seed);
  ~Gate();

  /// The first failed comparison, else the one at the problem's own lengths.
  Comparison check(const KernelConfig& config, const LoadedConfig& kernels);

 private:
  struct Case;
  const Device& device_;
  std::vector<std::unique_ptr<Case>> cases_;
};

/// Runs a config once on given tensors and compares; what `heddle verify` does.
struct VerifyCase {
  const Problem& problem;
  const HostTensors& tensors;
  const DeviceReference& expected;
};
Comparison verify_config(const Device& device, const VerifyCase& verify_case,
                         const KernelConfig& config, const LoadedConfig& kernels);

}  // namespace heddle
