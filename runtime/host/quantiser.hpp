#pragma once
// The generated quantiser on the CPU, through the very kernels a GPU would run.

#include "generator/quantiser.hpp"
#include "runtime/host/host_compiler.hpp"
#include "runtime/host/launch.hpp"
#include "runtime/testing/reference.hpp"

namespace heddle {

struct HostQuantised {
  HostTensors tensors;            ///< contiguous, V by the problem's value_layout
  std::vector<HostFault> faults;  ///< what the checks found; the tensors mean nothing then
};

/// Contiguous Q, K and V of `dtype`, V by rows, as the e4m3 problem wants them. Everything that is
/// written begins as NaN patterns.
HostQuantised quantise_on_host(HostCompiler& compiler, const Problem& problem, DataType dtype,
                               const HostTensors& inputs, const QuantiserRecipe& recipe,
                               unsigned seed, const HostLaunchOptions& options);

}  // namespace heddle
