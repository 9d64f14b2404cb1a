#pragma once
// The generated quantiser on the CPU, through the very kernels a GPU would run.

#include <memory>
#include <vector>

#include "generator/quantiser.hpp"
#include "runtime/host/host_compiler.hpp"
#include "runtime/host/launch.hpp"
#include "runtime/testing/reference.hpp"

namespace heddle {

/// The kernels of Q, K and V, each in the order of quantiser_parts.
struct HostQuantiser {
  QuantiserConfigs configs;
  std::vector<std::shared_ptr<const HostKernel>> query, key, value;
};
HostQuantiser compile_quantiser_for_host(HostCompiler& compiler, const QuantiserConfigs& configs);

struct HostQuantised {
  HostTensors tensors;            ///< contiguous, V by the problem's value_layout
  std::vector<HostFault> faults;  ///< what the checks found; the tensors mean nothing then
};

/// Contiguous Q, K and V, V by rows, as the e4m3 problem wants them. Everything that is written
/// begins as NaN patterns.
HostQuantised quantise_on_host(const Problem& problem, const HostQuantiser& quantiser,
                               const HostTensors& inputs, unsigned seed,
                               const HostLaunchOptions& options);

}  // namespace heddle
