#include "cli/npy.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "cli/end_to_end.hpp"
#include "cli/npy_header.hpp"
#include "runtime/testing/element.hpp"

using namespace heddle;

namespace {

/// A folder of its own for each test, removed at its end.
class Folder {
 public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "heddle-npy-XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string file(const std::string& name) const { return (path_ / name).string(); }
  std::string write(const std::string& name, const std::string& bytes) const {
    std::ofstream(file(name), std::ios::binary) << bytes;
    return file(name);
  }

 private:
  std::filesystem::path path_;
};

template <class Element>
std::string data_bytes(const std::vector<Element>& elements) {
  std::string bytes(elements.size() * sizeof(Element), '\0');
  std::memcpy(bytes.data(), elements.data(), bytes.size());
  return bytes;
}

std::string zeros(const std::string& descr, const std::vector<long long>& shape) {
  long long bytes = descr.back() - '0';
  for (const long long length : shape) bytes *= length;
  return format_npy_header({descr, false, shape}) + std::string(bytes, '\0');
}

/// A version 1.0 file as NumPy 1.24 writes it, byte for byte: np.float16([[[[1, -2]]]]).
std::string numpy_file() {
  const std::string header = "{'descr': '<f2', 'fortran_order': False, 'shape': (1, 1, 1, 2), }";
  std::string bytes("\x93NUMPY\x01\x00\x76\x00", 10);
  bytes += header + std::string(0x76 - header.size() - 1, ' ') + "\n";
  return bytes + std::string("\x00\x3c\x00\xc0", 4);
}

std::string message_of(const std::string& path, NpyElements elements = NpyElements::kFp16) {
  try {
    read_npy({"key", path}, elements);
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::kInvalidArgument);
    CHECK(error.field() == "key");
    CHECK(std::string(error.what()).find("key: '" + path + "'") == 0);
    return error.what();
  }
  return "accepted";
}

bool contains(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

}  // namespace

TEST_CASE("a file as NumPy writes it is read") {
  const Folder folder;
  const NpyTensor tensor = read_npy({"query", folder.write("q", numpy_file())}, NpyElements::kFp16);
  CHECK(tensor.dtype == DataType::kFp16);
  CHECK(tensor.shape.columns == 2);
  CHECK(tensor.elements == std::vector<std::uint16_t>{0x3c00, 0xc000});
}

TEST_CASE("formats 2.0 and 3.0 have a four-byte header length") {
  const Folder folder;
  const std::string first = numpy_file();
  for (const char version : {'\x02', '\x03'}) {
    std::string bytes = first.substr(0, 6) + version + std::string("\x00\x76\x00\x00\x00", 5);
    bytes += first.substr(10);
    const NpyTensor tensor = read_npy({"query", folder.write("q", bytes)}, NpyElements::kFp16);
    CHECK(tensor.elements == std::vector<std::uint16_t>{0x3c00, 0xc000});
  }
}

TEST_CASE("fp32 is rounded to the type asked for, bf16 comes as uint16") {
  const Folder folder;
  const std::string floats = format_npy_header({"<f4", false, {1, 1, 2, 1}}) +
                             data_bytes(std::vector<float>{1.0f / 3, -INFINITY});
  const std::string path = folder.write("f", floats);
  CHECK(read_npy({"query", path}, NpyElements::kFp16).elements ==
        std::vector<std::uint16_t>{fp16_from_float(1.0f / 3), 0xfc00});
  const NpyTensor brain = read_npy({"query", path}, NpyElements::kBf16);
  CHECK(brain.dtype == DataType::kBf16);
  CHECK(brain.elements == std::vector<std::uint16_t>{bf16_from_float(1.0f / 3), 0xff80});

  const std::string bits = format_npy_header({"<u2", false, {1, 1, 1, 1}}) + "\x80\x3f";
  CHECK(read_npy({"query", folder.write("u", bits)}, NpyElements::kBf16).elements ==
        std::vector<std::uint16_t>{0x3f80});
}

TEST_CASE("what cannot be read is refused with field, value and remedy") {
  const Folder folder;
  const std::string good = numpy_file();
  const auto message = [&](const std::string& bytes) {
    return message_of(folder.write("k", bytes));
  };
  CHECK(message(good) == "accepted");
  CHECK(contains(message_of(folder.file("absent")), "check that the file exists"));
  CHECK(contains(message("PK\x03\x04 a zip archive"), "is not a .npy file"));
  CHECK(contains(message(""), "is truncated: it ends after 0 bytes"));
  CHECK(contains(message(good.substr(0, 60)), "is truncated: it ends after 60 bytes"));
  CHECK(contains(message(good.substr(0, good.size() - 1)), "needs 4 bytes of data, it has 3"));
  CHECK(contains(message(good + "x"), "is too long"));
  CHECK(contains(message(good.substr(0, 6) + '\x09' + good.substr(7)), "format version 9"));
  CHECK(contains(message(zeros("<f2", {2, 3, 4})), "has shape (2, 3, 4); give 4 dimensions"));
  CHECK(contains(message(zeros(">f2", {1, 1, 1, 8})), "array.astype('<f2')"));
  CHECK(contains(message(zeros("<f8", {1, 1, 1, 8})), "element type '<f8'"));
  CHECK(contains(message(zeros("<u2", {1, 1, 1, 8})), "bf16 flag"));
  CHECK(contains(message(format_npy_header({"<f2", true, {1, 1, 1, 0}})), "ascontiguousarray"));
  CHECK(contains(message(format_npy_header({"<f2", false, {1LL << 31, 1, 1, 8}})), "too large"));
  CHECK(
      contains(message(format_npy_header({"<f2", false, {2147483647, 2147483647, 2147483647, 8}})),
               "too large"));
  CHECK(contains(message_of(folder.write("k", good), NpyElements::kBf16), "leave the bf16 flag"));
  const std::string large =
      format_npy_header({"<f4", false, {1, 1, 1, 1}}) + data_bytes(std::vector<float>{70000});
  CHECK(contains(message(large), "70000, which fp16 cannot represent"));
}

TEST_CASE("damaged headers are refused, never believed") {
  const auto message = [](const std::string& text) -> std::string {
    try {
      parse_npy_header(text);
    } catch (const Error& error) {
      return error.what();
    }
    return "accepted";
  };
  CHECK(message("{'shape': (1L, 2), 'descr': \"<f2\", 'fortran_order': True}") == "accepted");
  CHECK(contains(message("{'descr': '<f2', 'shape': (1,)}"), "no entry 'fortran_order'"));
  CHECK(contains(message("{'descr': [('a', '<f2')]}"), "structured types"));
  CHECK(contains(message("{'descr': '<f2"), "does not end"));
  CHECK(contains(message("{'shape': (-1,)"), "length of 0 or more"));
  CHECK(contains(message("{'shape': (99999999999999999999,)"), "length of 0 or more"));
  CHECK(contains(message("{'shape': (1 2)"), "expected ',' or ')'"));
  CHECK(contains(message("{'shape': (1,), 'shape': (2,)"), "given twice"));
  CHECK(contains(message("{'order': 1"), "unknown entry 'order'"));
  CHECK(contains(message("{'fortran_order': 1"), "True or False"));
  CHECK(contains(message(""), "expected '{'"));
}

TEST_CASE("Q, K and V become a problem, or say how they differ") {
  const Folder folder;
  AttentionFiles files{folder.write("q", zeros("<f2", {2, 8, 5, 64})),
                       folder.write("k", zeros("<f2", {2, 4, 7, 64})),
                       folder.write("v", zeros("<f2", {2, 4, 7, 64}))};
  const AttentionInput input = read_attention_inputs(files, NpyElements::kFp16);
  CHECK(canonical_text(input.problem.sizes) == "batch=2,heads=8,kv_heads=4,seqlen_q=5,seqlen_kv=7");
  CHECK(canonical_text(input.problem.variant) == "dtype=fp16,head_dim=64");
  CHECK(input.tensors.value.size() == 2 * 4 * 7 * 64);

  const auto message = [&](std::string AttentionFiles::*which,
                           const std::vector<long long>& shape) -> std::string {
    AttentionFiles changed = files;
    changed.*which = folder.write("changed", zeros("<f2", shape));
    try {
      read_attention_inputs(changed, NpyElements::kFp16);
    } catch (const Error& error) {
      return error.field() + "|" + error.what();
    }
    return "accepted";
  };
  CHECK(contains(message(&AttentionFiles::key, {1, 4, 7, 64}), "has batch 1, but query"));
  CHECK(contains(message(&AttentionFiles::key, {2, 4, 7, 32}), "has head_dim 32, but query"));
  CHECK(contains(message(&AttentionFiles::value, {2, 2, 7, 64}), "value|value: "));
  CHECK(contains(message(&AttentionFiles::value, {2, 4, 6, 64}), "has seqlen 6, but key"));
  CHECK(contains(message(&AttentionFiles::query, {2, 6, 5, 64}), "4 heads, which do not divide"));
}

TEST_CASE("e4m3 comes as uint8, and is taken for nothing else") {
  const Folder folder;
  const std::string bits = format_npy_header({"|u1", false, {1, 1, 1, 3}}) + "\x38\xfe\x7f";
  const NpyTensor tensor = read_npy({"query", folder.write("u", bits)}, NpyElements::kE4m3);
  CHECK(tensor.dtype == DataType::kE4m3);
  CHECK(tensor.elements == std::vector<std::uint16_t>{0x38, 0xfe, 0x7f});
  CHECK(contains(message_of(folder.write("u", bits)), "say with --dtype e4m3"));
  CHECK(contains(message_of(folder.write("h", zeros("<f2", {1, 1, 1, 8})), NpyElements::kE4m3),
                 "but e4m3 was asked for"));
  CHECK(contains(message_of(folder.write("u", bits + "x"), NpyElements::kE4m3), "is too long"));
}

TEST_CASE("transposed V has whole groups of 16 keys") {
  const Folder folder;
  const auto zero_bytes = [](const std::vector<long long>& shape) {
    long long count = 1;
    for (const long long extent : shape) count *= extent;
    return format_npy_header({"|u1", false, shape}) + std::string(count, '\0');
  };
  AttentionFiles files{folder.write("q", zero_bytes({2, 8, 5, 64})),
                       folder.write("k", zero_bytes({2, 4, 37, 64})),
                       folder.write("v", zero_bytes({2, 4, 64, 48}))};
  const AttentionInput input =
      read_attention_inputs(files, NpyElements::kE4m3, ValueLayout::kTransposed);
  CHECK(canonical_text(input.problem.variant) == "dtype=e4m3,head_dim=64,value_layout=transposed");
  CHECK(input.tensors.value.size() == 2 * 4 * 64 * 48);
  files.value = folder.write("v", zero_bytes({2, 4, 64, 37}));
  CHECK_THROWS_WITH(read_attention_inputs(files, NpyElements::kE4m3, ValueLayout::kTransposed),
                    Catch::Contains("has 64 rows of 37") && Catch::Contains("64 (head_dim) of 48"));
  CHECK_THROWS_WITH(read_attention_inputs(files, NpyElements::kE4m3),
                    Catch::Contains("has seqlen 64"));
}

TEST_CASE("scales are fp32 of the shapes that the problem says") {
  const Folder folder;
  Problem problem;
  problem.variant = {.dtype = DataType::kE4m3, .head_dim = 32, .scales = ScaleKind::kBlock};
  problem.sizes = {.batch = 1, .heads = 2, .kv_heads = 1, .seqlen_q = 129, .seqlen_kv = 5};
  const auto numbers = [&](const std::vector<long long>& shape, std::vector<float> values) {
    return folder.write("s", format_npy_header({"<f4", false, shape}) + data_bytes(values));
  };
  CHECK(read_scales({}, problem).query_descale.empty());
  const std::string blocks = numbers({1, 2, 2}, {1, 2, 3, 4});
  CHECK(read_scales({{"query_descale", blocks}}, problem).query_descale ==
        std::vector<float>{1, 2, 3, 4});
  CHECK_THROWS_WITH(read_scales({{"key_descale", blocks}}, problem),
                    Catch::Contains("key_descale: '") &&
                        Catch::Contains("has shape [1, 2, 2], but scales=block") &&
                        Catch::Contains("want [1, 1, 1]"));
  const std::string flat = numbers({4}, {1, 2, 3, 4});
  CHECK_THROWS_WITH(read_scales({{"query_descale", flat}}, problem), Catch::Contains("[4]"));
  const std::string halves = folder.write("h", zeros("<f2", {1, 2, 2}));
  CHECK_THROWS_WITH(read_scales({{"query_descale", halves}}, problem),
                    Catch::Contains("astype('float32')"));
  const std::string means = numbers({1, 1, 32}, std::vector<float>(32, 0.5f));
  CHECK(read_scales({{"value_mean", means}}, problem).value_mean.size() == 32);

  problem.variant.scales = ScaleKind::kTensor;
  for (const std::vector<long long>& shape : {std::vector<long long>{}, {1}}) {
    const std::string one = numbers(shape, {8});
    CHECK(read_scales({{"value_descale", one}}, problem).value_descale == std::vector<float>{8});
  }
  problem.variant = {.dtype = DataType::kBf16, .head_dim = 32};
  CHECK_THROWS_WITH(read_scales({{"query_descale", blocks}}, problem),
                    Catch::Contains("only e4m3 inputs have scales, not bf16"));
}

TEST_CASE("the error against originals is told apart from the kernel's") {
  AttentionInput original;
  original.problem.variant = {.dtype = DataType::kFp16, .head_dim = 32};
  original.problem.sizes = {.batch = 1, .heads = 1, .seqlen_q = 1, .seqlen_kv = 1};
  original.tensors.query.assign(32, 0);
  original.tensors.key.assign(32, 0);
  original.tensors.value.assign(32, fp16_from_float(1.03125f));
  Problem quantised = original.problem;
  quantised.variant.dtype = DataType::kE4m3;
  const AttentionResult reference{std::vector<double>(32, 1.0), {0}, {}, {}};
  const std::vector<std::uint16_t> output(32, bf16_from_float(1.0625f));
  const EndToEndError error = end_to_end_error(original, quantised, reference, output, {0.25f});
  CHECK(error.max_error == 0.03125);
  CHECK(error.rms_error == 0.03125);
  CHECK(error.rounding_rms_error == 0.03125);
  CHECK(error.output_rms == 1.03125);
  CHECK(error.log_sum_exp_error == 0.25);
}

TEST_CASE("what is written can be read again") {
  const Folder folder;
  Problem problem;
  problem.variant.head_dim = 8;
  problem.sizes = {.batch = 1, .heads = 2, .seqlen_q = 3, .seqlen_kv = 4};
  std::vector<std::uint16_t> output(48);
  for (std::size_t i = 0; i < output.size(); ++i) output[i] = static_cast<std::uint16_t>(i * 257);
  for (const auto& [dtype, elements] : {std::pair{DataType::kFp16, NpyElements::kFp16},
                                        std::pair{DataType::kBf16, NpyElements::kBf16}}) {
    problem.variant.dtype = dtype;
    write_npy_output(folder.file("o"), problem, output);
    const NpyTensor back = read_npy({"output", folder.file("o")}, elements);
    CHECK(back.elements == output);
    CHECK(back.shape.heads == 2);
    CHECK(std::filesystem::file_size(folder.file("o")) == 128 + 96);
  }
  write_npy_log_sum_exp(folder.file("l"), problem, {1, 2, 3, 4, 5, -INFINITY});
  std::ifstream stream(folder.file("l"), std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(stream), {});
  CHECK(contains(bytes, "'descr': '<f4', 'fortran_order': False, 'shape': (1, 2, 3, ), }"));
  CHECK(bytes.substr(128) == data_bytes(std::vector<float>{1, 2, 3, 4, 5, -INFINITY}));
}

TEST_CASE("an output that cannot be written is an error") {
  const Folder folder;
  Problem problem;
  problem.variant.head_dim = 8;
  try {
    write_npy_output(folder.file("no/such/folder/o"), problem, std::vector<std::uint16_t>(8));
    FAIL("it was written");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::kIo);
    CHECK(contains(error.what(), "no/such/folder/o"));
  }
}
