#pragma once
// Host references: attention in float64 and the fp32 baseline, blocked, O(N) memory, several
// threads.
//
// What they say about values that are not ordinary:
// - Keys that a row may not see (causal, past the end) are not read for it at all.
// - A row without a visible key, or whose visible logits are all -Inf, is exactly 0 with LSE -inf.
// - A visible logit that is NaN or +Inf makes the whole row and its LSE NaN.
// - p * V is IEEE: a visible V that is NaN makes its column NaN even where p is 0, and an infinite
//   one makes it infinite, or NaN where p is 0 or both signs meet.
// The float64 reference multiplies by the problem's scale in double; a kernel gets it in fp32.

#include <cstdint>
#include <vector>

#include "generator/problem.hpp"

namespace heddle {

/// One problem's host tensors: raw elements (fp16/bf16 bits), laid out by the problem's strides.
/// They may be longer than the problem reaches.
struct HostTensors {
  std::vector<std::uint16_t> query, key, value;
};

struct AttentionResult {
  std::vector<double> output;       ///< [batch, heads, seqlen_q, head_dim] contiguous
  std::vector<double> log_sum_exp;  ///< [batch, heads, seqlen_q], -inf for rows without keys
  /// [batch, heads, seqlen_q]: the largest finite |scaled logit| a row sees. May be left empty by
  /// an engine that does not know it; the comparison then takes |LSE|, which is smaller or about
  /// equal.
  std::vector<double> largest_logit;
};

enum class ReferenceMode {
  kFloat64,   ///< every step in double
  kBaseline,  ///< S and softmax in fp32, P (normalised) and O rounded to the input type
};

/// Throws kInvalidArgument or kUnsupported for a problem that heddle refuses, or for a tensor that
/// is shorter than its strides reach.
AttentionResult reference_attention(const Problem& problem, const HostTensors& tensors,
                                    ReferenceMode mode);

}  // namespace heddle
