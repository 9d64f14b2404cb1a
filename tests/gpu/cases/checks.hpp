#pragma once
// Runs of a kernel and what they are held to. Each check says what is wrong, or nothing.

#include <string>

#include "runtime/testing/cases.hpp"
#include "tests/gpu/cases/small_kernels.hpp"
#include "tests/gpu/cases/ways.hpp"
#include "tuner/problem_buffers.hpp"

namespace heddle {

struct Outputs {
  std::vector<std::uint16_t> output;  ///< contiguous [batch, heads, seqlen_q, head_dim]
  std::vector<float> log_sum_exp;
};
/// Bit by bit: a NaN equals itself.
bool same_bits(const Outputs& left, const Outputs& right);

/// Launches a config by hand; all parts on the stream.
void enqueue(const Gpu& gpu, const Problem& problem, const Kernel& kernel,
             const TensorPointers& pointers, DriverStream stream);

std::size_t workspace_bytes(const Gpu& gpu, const Problem& problem, const KernelConfig& config);

/// One run on poisoned outputs; throws where a guard band was written to.
Outputs run_guarded(const Gpu& gpu, const Problem& problem, const HostTensors& tensors,
                    const Kernel& kernel);

struct HostReference {
  AttentionResult float64;
  AttentionResult baseline;
};
HostReference host_reference(const Problem& problem, const HostTensors& tensors);
/// The numerical contract, every element.
std::string check_all_rows(const Problem& problem, const HostReference& expected,
                           const Outputs& actual);

struct RowSample {
  int count = 128;
  std::uint64_t seed = 0;
};
/// The numerical contract on rows drawn at random, the first and the last row among them.
/// Contiguous tensors, read from the device.
std::string check_random_rows(const Gpu& gpu, const Problem& problem,
                              const TensorPointers& pointers, const RowSample& sample);

/// That every element of O has been written. Contiguous.
std::string check_all_written(const SmallKernels& kernels, const Problem& problem,
                              const TensorPointers& pointers);

}  // namespace heddle
