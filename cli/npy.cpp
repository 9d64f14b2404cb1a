#include "cli/npy.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>

#include "cli/npy_header.hpp"
#include "runtime/testing/element.hpp"

namespace heddle {
namespace {

static_assert(std::endian::native == std::endian::little, "elements are copied as they are");

constexpr std::uint64_t kLongestHeader = 1 << 20;

[[noreturn]] void fail(const NpySource& source, const std::string& what) {
  throw Error(ErrorCode::kInvalidArgument, source.field,
              source.field + ": '" + source.path + "' " + what);
}

/// One open file whose size is known, so that nothing is allocated for data that is not there.
class NpyFile {
 public:
  explicit NpyFile(const NpySource& source) : source_(source) {
    std::error_code error;
    size_ = std::filesystem::file_size(source.path, error);
    stream_.open(source.path, std::ios::binary);
    if (error || !stream_) fail(source, "cannot be read; check that the file exists");
  }

  NpyHeader read_header() {
    char prefix[8];
    read(prefix, sizeof prefix);
    if (std::memcmp(prefix, "\x93NUMPY", 6) != 0) {
      fail(source_,
           "is not a .npy file (it does not start with \\x93NUMPY); write one with "
           "numpy.save");
    }
    const int major = static_cast<unsigned char>(prefix[6]);
    if (major < 1 || major > 3) {
      fail(source_,
           "has .npy format version " + std::to_string(major) + "; versions 1, 2 and 3 are known");
    }
    unsigned char length_bytes[4] = {};
    read(reinterpret_cast<char*>(length_bytes), major == 1 ? 2 : 4);
    std::uint64_t length = 0;
    for (int i = 3; i >= 0; --i) length = length * 256 + length_bytes[i];
    if (length > kLongestHeader) {
      fail(source_, "claims a header of " + std::to_string(length) + " bytes; the file is damaged");
    }
    std::string text(length, ' ');
    read(text.data(), length);
    try {
      return parse_npy_header(text);
    } catch (const Error& error) {
      fail(source_, std::string("has a header that cannot be understood: ") + error.what());
    }
  }

  std::uint64_t bytes_left() const { return size_ - read_; }

  void read(char* to, std::uint64_t bytes) {
    if (bytes_left() < bytes) {
      fail(source_, "is truncated: it ends after " + std::to_string(size_) +
                        " bytes, within its header; write it again with numpy.save");
    }
    stream_.read(to, static_cast<std::streamsize>(bytes));
    if (!stream_) fail(source_, "cannot be read to its end");
    read_ += bytes;
  }

 private:
  const NpySource& source_;
  std::ifstream stream_;
  std::uint64_t size_ = 0, read_ = 0;
};

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

/// Bytes of an element as stored; refuses what no 16-bit tensor can be made of.
int stored_bytes(const NpySource& source, const std::string& descr, NpyElements elements) {
  if (descr.size() == 3 && descr[0] == '>') {
    fail(source,
         "is big endian (" + descr + "); convert it with array.astype('<" + descr.substr(1) + "')");
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
                   "'; float16 (<f2), float32 (<f4) and bf16 as uint16 (<u2) can be read: "
                   "convert it with array.astype('float16')");
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
  if (header.fortran_order) {
    fail(source, "is in Fortran order; convert it with numpy.ascontiguousarray");
  }
  const int width = stored_bytes(source, header.descr, elements);
  NpyTensor tensor;
  tensor.shape = tensor_shape(source, header);
  tensor.dtype = elements == NpyElements::kBf16 ? DataType::kBf16 : DataType::kFp16;
  const std::size_t count = tensor.shape.elements();
  if (file.bytes_left() != count * width) {
    const bool shorter = file.bytes_left() < count * width;
    fail(source, std::string(shorter ? "is truncated" : "is too long") + ": its shape needs " +
                     std::to_string(count * width) + " bytes of data, it has " +
                     std::to_string(file.bytes_left()) + "; write it again with numpy.save");
  }
  tensor.elements.resize(count);
  if (width == 2) {
    file.read(reinterpret_cast<char*>(tensor.elements.data()), count * 2);
    return tensor;
  }
  std::vector<float> values(count);
  file.read(reinterpret_cast<char*>(values.data()), count * 4);
  for (std::size_t i = 0; i < count; ++i) {
    tensor.elements[i] = narrow(source, tensor.dtype, values[i]);
  }
  return tensor;
}

AttentionInput read_attention_inputs(const AttentionFiles& files, NpyElements elements) {
  const NpySource query_file{"query", files.query};
  const NpySource key_file{"key", files.key};
  const NpySource value_file{"value", files.value};
  NpyTensor query = read_npy(query_file, elements);
  NpyTensor key = read_npy(key_file, elements);
  NpyTensor value = read_npy(value_file, elements);
  require_equal(key_file, "batch", key.shape.batch, query_file, query.shape.batch);
  require_equal(key_file, "head_dim", key.shape.columns, query_file, query.shape.columns);
  require_equal(value_file, "batch", value.shape.batch, key_file, key.shape.batch);
  require_equal(value_file, "heads", value.shape.heads, key_file, key.shape.heads);
  require_equal(value_file, "seqlen", value.shape.rows, key_file, key.shape.rows);
  require_equal(value_file, "head_dim", value.shape.columns, key_file, key.shape.columns);
  const int kv_heads = key.shape.heads;
  if (query.shape.heads > 0 && (kv_heads == 0 || query.shape.heads % kv_heads != 0)) {
    fail(key_file, "has " + value_text(kv_heads) + " heads, which do not divide the " +
                       value_text(query.shape.heads) + " heads of query '" + files.query + "'");
  }
  AttentionInput input;
  input.problem.variant.dtype = query.dtype;
  input.problem.variant.head_dim = query.shape.columns;
  input.problem.sizes.batch = query.shape.batch;
  input.problem.sizes.heads = query.shape.heads;
  input.problem.sizes.kv_heads = kv_heads;
  input.problem.sizes.seqlen_q = query.shape.rows;
  input.problem.sizes.seqlen_kv = key.shape.rows;
  input.tensors = {std::move(query.elements), std::move(key.elements), std::move(value.elements)};
  return input;
}

void write_npy_output(const std::string& path, const Problem& problem,
                      const std::vector<std::uint16_t>& output) {
  const TensorShape shape = query_shape(problem);
  const bool is_fp16 = problem.variant.dtype == DataType::kFp16;
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
