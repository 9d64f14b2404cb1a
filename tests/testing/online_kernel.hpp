#pragma once
// What an honest kernel computes: online softmax over key tiles in fp32, unnormalised P rounded to
// the element type, one division at the end. For contiguous tensors.

#include "runtime/testing/reference.hpp"

namespace heddle {

struct KernelOutput {
  std::vector<std::uint16_t> output;
  std::vector<float> log_sum_exp;
};

KernelOutput online_kernel(const Problem& problem, const HostTensors& tensors);

}  // namespace heddle
