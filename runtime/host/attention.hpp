#pragma once
// heddle::host: an attention problem on the CPU, through the very kernels a GPU would run.

#include <cstdint>
#include <memory>
#include <vector>

#include "generator/launch_plan.hpp"
#include "runtime/host/fault.hpp"
#include "runtime/host/host_compiler.hpp"
#include "runtime/host/launch.hpp"
#include "runtime/testing/reference.hpp"

namespace heddle {

/// A config's kernels, compiled for this machine.
struct HostConfig {
  KernelConfig config;
  std::vector<std::shared_ptr<const HostKernel>> parts;
};
HostConfig compile_for_host(HostCompiler& compiler, const Variant& variant,
                            const KernelConfig& config, const DeviceLimits& limits);

struct HostRun {
  std::vector<std::uint16_t> output;          ///< contiguous [batch, heads, seqlen_q, head_dim]
  std::vector<std::uint16_t> output_storage;  ///< as the kernel left it, gaps included
  std::vector<float> log_sum_exp;             ///< [batch, heads, seqlen_q]
  std::vector<unsigned char> workspace;       ///< as the kernels left it
  std::vector<BufferTraffic> traffic;         ///< of Q, K, V, O, LSE and the workspace, all kernels
  BarrierCounts barriers;                     ///< of all blocks of all kernels
  unsigned tile_counter = 0;                  ///< as the kernel left it, which began with 0
  std::vector<HostFault> faults;  ///< what the checks found; the results mean nothing then
};

/// Runs the kernels as planned for `limits`. O, LSE and the workspace begin as NaN patterns. Throws
/// kInvalidArgument or kUnsupported for what heddle refuses, or for tensors that are too short.
HostRun run_on_host(const Problem& problem, const HostConfig& config, const DeviceLimits& limits,
                    const HostTensors& tensors, const HostLaunchOptions& options);

}  // namespace heddle
