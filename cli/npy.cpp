#include "cli/npy.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <fstream>
#include <limits>

#include "cli/npy_file.hpp"
#include "runtime/testing/element.hpp"

namespace heddle {
namespace {

static_assert(std::endian::native == std::endian::little, "elements are copied as they are");

TensorShape tensor_shape(const NpySource& source, const NpyHeader& header) {
  std::string text;
  for (const long long length : header.shape)
    text += (text.empty() ? "" : ", ") + value_text(length);
  if (header.shape.size() != 4) {
    fail(source, "has shape (" + text + "); give 4 dimensions: [batch, heads, seqlen, head_dim]");
  }
  long long elements = 1;
  for (const long long length : header.shape) {
    const bool too_long =
        length > std::numeric_limits<int>::max() || (length > 0 && elements > (1LL << 60) / length);
    if (too_long) fail(source, "has shape (" + text + "), which is too large");
    elements *= length;
  }
  return {static_cast<int>(header.shape[0]), static_cast<int>(header.shape[1]),
          static_cast<int>(header.shape[2]), static_cast<int>(header.shape[3])};
}

DataType element_type(NpyElements elements) {
  if (elements == NpyElements::kE4m3) return DataType::kE4m3;
  return elements == NpyElements::kBf16 ? DataType::kBf16 : DataType::kFp16;
}

/// Bytes of an element as stored; refuses what no tensor of `elements` can be made of.
int stored_bytes(const NpySource& source, const std::string& descr, NpyElements elements) {
  const bool is_byte = descr == "|u1" || descr == "<u1";
  if (elements == NpyElements::kE4m3) {
    if (is_byte) return 1;
    fail(source, "has element type '" + descr +
                     "', but e4m3 was asked for, whose bits come as uint8 (|u1): save "
                     "array.view('uint8'), or leave --dtype e4m3 away");
  }
  if (is_byte) {
    fail(source, "holds uint8 (" + descr + "); say with --dtype e4m3 that these are e4m3 bits");
  }
  if (descr == "<f4") return 4;
  if (descr == "<f2" && elements == NpyElements::kBf16) {
    fail(source,
         "holds fp16 (<f2), but bf16 was asked for; leave the bf16 flag away, or store "
         "bf16 bits as uint16");
  }
  if (descr == "<f2") return 2;
  if (descr == "<u2" && elements == NpyElements::kBf16) return 2;
  if (descr == "<u2") {
    fail(source, "holds uint16 (<u2); say with the bf16 flag that these are bf16 bits");
  }
  fail(source, "has element type '" + descr +
                   "'; float16 (<f2), float32 (<f4), bf16 as uint16 (<u2) and e4m3 as uint8 (|u1) "
                   "can be read: convert it with array.astype('float16')");
}

std::uint16_t narrow(const NpySource& source, DataType dtype, float value) {
  const std::uint16_t bits = element_from_float(dtype, value);
  if (std::isfinite(value) && !std::isfinite(element_to_float(dtype, bits))) {
    fail(source, "holds " + value_text(static_cast<double>(value)) + ", which " +
                     value_text(dtype) + " cannot represent; scale the data, or use bf16");
  }
  return bits;
}

void require_equal(const NpySource& source, const char* what, int actual, const NpySource& other,
                   int expected) {
  if (actual == expected) return;
  fail(source, std::string("has ") + what + " " + value_text(actual) + ", but " + other.field +
                   " '" + other.path + "' has " + value_text(expected) + "; they must be equal");
}

void require_value_extent(const NpySource& source, const TensorShape& shape,
                          const NpySource& key_file, const Problem& problem) {
  if (problem.variant.value_layout == ValueLayout::kRows) {
    require_equal(source, "seqlen", shape.rows, key_file, problem.sizes.seqlen_kv);
    require_equal(source, "head_dim", shape.columns, key_file, problem.variant.head_dim);
    return;
  }
  const TensorShape expected = value_shape(problem);
  if (shape.rows == expected.rows && shape.columns == expected.columns) return;
  fail(source, "has " + value_text(shape.rows) + " rows of " + value_text(shape.columns) +
                   ", but V transposed for key '" + key_file.path + "' has " +
                   value_text(expected.rows) + " (head_dim) of " + value_text(expected.columns) +
                   " (the keys in whole groups of 16); leave --value-layout transposed away if V "
                   "has K's shape");
}

void write_file(const std::string& path, const NpyHeader& header, const void* data,
                std::size_t bytes) {
  std::ofstream stream(path, std::ios::binary | std::ios::trunc);
  const std::string prefix = format_npy_header(header);
  stream.write(prefix.data(), static_cast<std::streamsize>(prefix.size()));
  stream.write(static_cast<const char*>(data), static_cast<std::streamsize>(bytes));
  stream.close();
  if (stream) return;
  throw Error(ErrorCode::kIo, "output",
              "'" + path + "' cannot be written; check that the folder exists and has space left");
}

}  // namespace

NpyTensor read_npy(const NpySource& source, NpyElements elements) {
  NpyFile file(source);
  const NpyHeader header = file.read_header();
  const int width = stored_bytes(source, header.descr, elements);
  NpyTensor tensor;
  tensor.shape = tensor_shape(source, header);
  tensor.dtype = element_type(elements);
  const std::size_t count = tensor.shape.elements();
  file.require_data(count, static_cast<std::size_t>(width));
  tensor.elements.resize(count);
  if (width == 2) {
    file.read(tensor.elements.data(), count * 2);
    return tensor;
  }
  if (width == 1) {
    std::vector<std::uint8_t> bytes(count);
    file.read(bytes.data(), count);
    std::copy(bytes.begin(), bytes.end(), tensor.elements.begin());
    return tensor;
  }
  std::vector<float> values(count);
  file.read(values.data(), count * 4);
  for (std::size_t i = 0; i < count; ++i) {
    tensor.elements[i] = narrow(source, tensor.dtype, values[i]);
  }
  return tensor;
}

AttentionInput read_attention_inputs(const AttentionFiles& files, NpyElements elements,
                                     ValueLayout value_layout) {
  const NpySource query_file{files.prefix + "query", files.query};
  const NpySource key_file{files.prefix + "key", files.key};
  const NpySource value_file{files.prefix + "value", files.value};
  NpyTensor query = read_npy(query_file, elements);
  NpyTensor key = read_npy(key_file, elements);
  NpyTensor value = read_npy(value_file, elements);
  require_equal(key_file, "batch", key.shape.batch, query_file, query.shape.batch);
  require_equal(key_file, "head_dim", key.shape.columns, query_file, query.shape.columns);
  require_equal(value_file, "batch", value.shape.batch, key_file, key.shape.batch);
  require_equal(value_file, "heads", value.shape.heads, key_file, key.shape.heads);
  const int kv_heads = key.shape.heads;
  if (query.shape.heads > 0 && (kv_heads == 0 || query.shape.heads % kv_heads != 0)) {
    fail(key_file, "has " + value_text(kv_heads) + " heads, which do not divide the " +
                       value_text(query.shape.heads) + " heads of query '" + files.query + "'");
  }
  AttentionInput input;
  input.problem.variant.dtype = query.dtype;
  input.problem.variant.head_dim = query.shape.columns;
  input.problem.variant.value_layout = value_layout;
  input.problem.sizes.batch = query.shape.batch;
  input.problem.sizes.heads = query.shape.heads;
  input.problem.sizes.kv_heads = kv_heads;
  input.problem.sizes.seqlen_q = query.shape.rows;
  input.problem.sizes.seqlen_kv = key.shape.rows;
  require_value_extent(value_file, value.shape, key_file, input.problem);
  input.tensors = {std::move(query.elements), std::move(key.elements), std::move(value.elements)};
  return input;
}

void write_npy_output(const std::string& path, const Problem& problem,
                      const std::vector<std::uint16_t>& output) {
  const TensorShape shape = query_shape(problem);
  const bool is_fp16 = output_type(problem.variant) == DataType::kFp16;
  write_file(
      path, {is_fp16 ? "<f2" : "<u2", false, {shape.batch, shape.heads, shape.rows, shape.columns}},
      output.data(), output.size() * sizeof output[0]);
}

void write_npy_log_sum_exp(const std::string& path, const Problem& problem,
                           const std::vector<float>& log_sum_exp) {
  const TensorShape shape = query_shape(problem);
  write_file(path, {"<f4", false, {shape.batch, shape.heads, shape.rows}}, log_sum_exp.data(),
             log_sum_exp.size() * sizeof log_sum_exp[0]);
}

}  // namespace heddle
