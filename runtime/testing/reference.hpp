#pragma once
// Host references: attention in float64 and the fp32 baseline, blocked, O(N) memory, several threads.

#include <cstdint>
#include <vector>

#include "generator/problem.hpp"

namespace heddle {

/// One problem's host tensors: raw elements (fp16/bf16 bits), laid out by the problem's strides.
struct HostTensors {
  std::vector<std::uint16_t> query, key, value;
};

struct AttentionResult {
  std::vector<double> output;       ///< [batch, heads, seqlen_q, head_dim] contiguous
  std::vector<double> log_sum_exp;  ///< [batch, heads, seqlen_q], -inf for rows without keys
};

enum class ReferenceMode {
  kFloat64,   ///< every step in double
  kBaseline,  ///< S and softmax in fp32, P and O rounded to the input type
};

AttentionResult reference_attention(const Problem& problem, const HostTensors& tensors,
                                    ReferenceMode mode);

}  // namespace heddle
