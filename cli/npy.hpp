#pragma once
// NumPy .npy files of Q, K, V in and O, LSE out: format 1.0 to 3.0, little endian, C order.

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/testing/layout.hpp"
#include "runtime/testing/reference.hpp"

namespace heddle {

/// A [batch, heads, seqlen, head_dim] tensor, contiguous, in the 16 bits that kernels take.
struct NpyTensor {
  TensorShape shape;
  DataType dtype = DataType::kFp16;
  std::vector<std::uint16_t> elements;
};

/// A file and what it is to the user: "query", named in errors.
struct NpySource {
  std::string field;
  std::string path;
};

/// NumPy has no bf16. Where the user says so, uint16 files hold bf16 bits and fp32 files are
/// rounded to bf16; otherwise fp32 is rounded to fp16 and uint16 is refused.
enum class NpyElements { kFp16, kBf16 };

/// Throws kInvalidArgument naming field, file, value and remedy. Finite fp32 values that the 16-bit
/// type cannot hold are refused, not turned into infinity.
NpyTensor read_npy(const NpySource& source, NpyElements elements);

struct AttentionFiles {
  std::string query, key, value;
};

struct AttentionInput {
  Problem problem;  ///< dtype, head_dim and sizes as the files say; the rest is the caller's
  HostTensors tensors;
};

/// Reads all three and checks that their shapes and types fit each other.
AttentionInput read_attention_inputs(const AttentionFiles& files, NpyElements elements);

/// O as '<f2', or bf16 bits as '<u2'. Throws kIo where the file cannot be written.
void write_npy_output(const std::string& path, const Problem& problem,
                      const std::vector<std::uint16_t>& output);
/// LSE as '<f4', [batch, heads, seqlen_q].
void write_npy_log_sum_exp(const std::string& path, const Problem& problem,
                           const std::vector<float>& log_sum_exp);

}  // namespace heddle
