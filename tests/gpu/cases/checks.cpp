#include "tests/gpu/cases/checks.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "generator/error.hpp"
#include "runtime/testing/compare.hpp"
#include "runtime/testing/layout.hpp"

namespace heddle {

bool same_bits(const Outputs& left, const Outputs& right) {
  return left.output == right.output && left.log_sum_exp.size() == right.log_sum_exp.size() &&
         std::memcmp(left.log_sum_exp.data(), right.log_sum_exp.data(),
                     left.log_sum_exp.size() * sizeof(float)) == 0;
}

void enqueue(const Gpu& gpu, const Problem& problem, const Kernel& kernel,
             const TensorPointers& pointers, DriverStream stream) {
  const LaunchPlan plan = plan_launch(problem, kernel.config, gpu.limits());
  kernel.loaded->launch(plan, fill_parameters(problem, kernel.config, plan, pointers), stream);
}

std::size_t workspace_bytes(const Gpu& gpu, const Problem& problem, const KernelConfig& config) {
  return plan_launch(problem, config, gpu.limits()).workspace_bytes;
}

Outputs run_guarded(const Gpu& gpu, const Problem& problem, const HostTensors& tensors,
                    const Kernel& kernel) {
  ProblemBuffers buffers(gpu.device(), problem, workspace_bytes(gpu, problem, kernel.config));
  buffers.upload(tensors);
  enqueue(gpu, problem, kernel, buffers.pointers(), nullptr);
  gpu.wait_for(nullptr);
  if (!buffers.guards_intact()) {
    throw Error(ErrorCode::kCheckFailed, "a guard band around the tensors was written to");
  }
  return {buffers.output(), buffers.log_sum_exp()};
}

HostReference host_reference(const Problem& problem, const HostTensors& tensors) {
  return {reference_attention(problem, tensors, ReferenceMode::kFloat64),
          reference_attention(problem, tensors, ReferenceMode::kBaseline)};
}

std::string check_all_rows(const Problem& problem, const HostReference& expected,
                           const Outputs& actual) {
  return compare(problem, expected.float64, expected.baseline, actual.output, actual.log_sum_exp)
      .explanation;
}

std::string check_all_written(const SmallKernels& kernels, const Problem& problem,
                              const TensorPointers& pointers) {
  const std::size_t elements = query_shape(problem).elements();
  const std::uint64_t poisoned = kernels.count_poisoned(pointers.output, elements);
  if (poisoned == 0) return "";
  return std::to_string(poisoned) + " of " + std::to_string(elements) + " elements not written";
}

}  // namespace heddle
