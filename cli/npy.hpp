#pragma once
// NumPy .npy files of Q, K, V in and O, LSE out: format 1.0 to 3.0, little endian, C order.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cli/npy_file.hpp"
#include "runtime/testing/layout.hpp"
#include "runtime/testing/reference.hpp"

namespace heddle {

/// A [batch, heads, seqlen, head_dim] tensor, contiguous, in the bits that kernels take: e4m3 in
/// the low byte.
struct NpyTensor {
  TensorShape shape;
  DataType dtype = DataType::kFp16;
  std::vector<std::uint16_t> elements;
};

/// NumPy has no bf16 and no e4m3. Where the user says so, uint16 files hold bf16 bits and fp32
/// files are rounded to bf16, or uint8 files hold e4m3 bits; otherwise fp32 is rounded to fp16 and
/// the others are refused.
enum class NpyElements { kFp16, kBf16, kE4m3 };

/// Throws kInvalidArgument naming field, file, value and remedy. Finite fp32 values that the 16-bit
/// type cannot hold are refused, not turned into infinity.
NpyTensor read_npy(const NpySource& source, NpyElements elements);

struct AttentionFiles {
  std::string query, key, value;
  std::string prefix;  ///< of the tensors' names in errors

  bool any_given() const { return !query.empty() || !key.empty() || !value.empty(); }
  bool all_given() const { return !query.empty() && !key.empty() && !value.empty(); }
};

struct AttentionInput {
  Problem problem;  ///< dtype, head_dim and sizes as the files say; the rest is the caller's
  HostTensors tensors;
};

/// Reads all three and checks that their shapes and types fit each other.
AttentionInput read_attention_inputs(const AttentionFiles& files, NpyElements elements,
                                     ValueLayout value_layout = ValueLayout::kRows);

/// Paths by the names of HostScales' fields: fp32 arrays of the shapes that Variant::scales says.
using ScaleFiles = std::map<std::string, std::string>;
/// Throws kInvalidArgument naming field, file, value and remedy, also where the problem is not of
/// e4m3 inputs, which alone have scales.
HostScales read_scales(const ScaleFiles& files, const Problem& problem);

/// O as '<f2', or bf16 bits as '<u2'. Throws kIo where the file cannot be written.
void write_npy_output(const std::string& path, const Problem& problem,
                      const std::vector<std::uint16_t>& output);
/// LSE as '<f4', [batch, heads, seqlen_q].
void write_npy_log_sum_exp(const std::string& path, const Problem& problem,
                           const std::vector<float>& log_sum_exp);

}  // namespace heddle
