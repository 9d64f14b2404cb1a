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
// - e4m3 has no infinity; what is said of NaN holds.
// The float64 reference multiplies by the problem's scale in double; a kernel gets it in fp32.
// Elements and their scales meet after the sums over them.

#include <cstdint>
#include <vector>

#include "generator/problem.hpp"

namespace heddle {

/// What comes with 8-bit inputs, all fp32; empty: 1, or nothing to add. Elements times their factor
/// are Q, K and V. A quantiser that took a mean off V, or off K, says what to add again.
struct HostScales {
  std::vector<float> query_descale;      ///< by Variant::scales: [1], [batch, heads], the same by
                                         ///< blocks of 128 rows, or by rows
  std::vector<float> key_descale;        ///< the same of kv_heads
  std::vector<float> value_descale;      ///< [1] where scales=tensor, else [batch, kv_heads]
  std::vector<float> value_mean;         ///< [batch, kv_heads, head_dim], added to O
  std::vector<float> log_sum_exp_shift;  ///< [batch, heads, seqlen_q], added to the log-sum-exp
};

/// One problem's host tensors: raw elements (fp16 or bf16 bits, e4m3 in the low byte), laid out by
/// the problem's strides, V by its value_layout. They may be longer than the problem reaches.
struct HostTensors {
  std::vector<std::uint16_t> query, key, value;
  HostScales scales;
};

struct AttentionResult {
  std::vector<double> output;       ///< [batch, heads, seqlen_q, head_dim] contiguous
  std::vector<double> log_sum_exp;  ///< [batch, heads, seqlen_q], -inf for rows without keys
  /// [batch, heads, seqlen_q]: the largest finite |scaled logit| a row sees, before or after
  /// log_sum_exp_shift. May be left empty by
  /// an engine that does not know it; the comparison then takes |LSE|, which is smaller or about
  /// equal.
  std::vector<double> largest_logit;
  /// [batch, heads, seqlen_q], of e4m3 inputs, else empty: how far the tensor cores' 8-bit sums may
  /// put the log-sum-exp off: what they lose of each logit on average, and four standard deviations
  /// of the rest, weighted as the keys are. (The worst case is many times as much.)
  std::vector<double> cut_error;
};

enum class ReferenceMode {
  kFloat64,  ///< every step in double
  /// S and softmax in fp32, P (normalised) and O rounded to the input type. e4m3: P is not
  /// normalised but 2^4 at its largest, so that it makes use of e4m3's range; O, divided by the sum
  /// of P before that was rounded, is rounded to the output type.
  kBaseline,
};

/// Throws kInvalidArgument or kUnsupported for a problem that heddle refuses, for a tensor that is
/// shorter than its strides reach, or for scales of another shape than the problem's.
AttentionResult reference_attention(const Problem& problem, const HostTensors& tensors,
                                    ReferenceMode mode);

}  // namespace heddle
