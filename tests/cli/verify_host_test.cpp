// `heddle verify --device host`: no GPU, no NVRTC, a C++ compiler.
#include <catch2/catch.hpp>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/npy_header.hpp"
#include "runtime/testing/inputs.hpp"
#include "tests/cli/heddle_process.hpp"
#include "tests/runtime/temporary_folder.hpp"

namespace heddle {
namespace {

using Catch::Contains;

TEST_CASE("verify runs the emitted kernel on the CPU and judges it") {
  HeddleProcess heddle;
  heddle.environment()["PATH"] = "/usr/local/bin:/usr/bin:/bin";  // compiler and linker
  const auto result = heddle.run({"verify", "--device", "host", "--heads", "4", "--kv-heads", "2",
                                  "--seqlen-q", "33", "--seqlen-kv", "70", "--head-dim", "40",
                                  "--mask", "causal", "--seed", "3", "--json"});
  INFO(result.errors);
  CHECK(result.code == 0);
  const auto json = nlohmann::json::parse(result.output);
  CHECK(json["passed"] == true);
  CHECK(json["max_error"] > 0.0);
  CHECK(json["explanation"] == "");
}

TEST_CASE("wrong inputs are refused before anything is compiled") {
  const auto result = HeddleProcess().run({"verify", "--device", "host", "--inputs", "even"});
  CHECK(result.code == 2);
  CHECK_THAT(result.errors, Contains("'even'") && Contains("normal"));
}

TEST_CASE("no host compiler is exit code 3 and what to install") {
  HeddleProcess heddle;
  heddle.environment()["PATH"] = "/nonexistent";
  const auto none = heddle.run({"verify", "--device", "host"});
  CHECK(none.code == 3);
  CHECK_THAT(none.errors, Contains("clang++, g++") && Contains("apt-get install g++"));
  const auto wrong = heddle.run({"verify", "--device", "host", "--host-compiler", "/nowhere/cc"});
  CHECK(wrong.code == 3);
  CHECK_THAT(wrong.errors, Contains("/nowhere/cc") && Contains("HEDDLE_HOST_CXX"));
}

TEST_CASE("the suite refuses what it would not look at") {
  for (const char* device : {"gpu", "host"}) {
    HeddleProcess heddle;
    heddle.environment()["PATH"] = "/usr/local/bin:/usr/bin:/bin";
    const auto problem = heddle.run({"verify", "--device", device, "--suite", "--head-dim", "64"});
    CHECK(problem.code == 2);
    CHECK_THAT(problem.errors, Contains("--suite checks problems of its own"));
    const auto knob = heddle.run({"verify", "--device", device, "--suite", "--set", "tile_m=64"});
    CHECK(knob.code == 2);
    CHECK_THAT(knob.errors, Contains("--set tile_m=64") && Contains("leave --set out"));
  }
}

TEST_CASE("an unknown device is refused by value") {
  const auto result = HeddleProcess().run({"verify", "--device", "tpu"});
  CHECK(result.code == 2);
  CHECK_THAT(result.errors, Contains("'tpu'") && Contains("gpu, host"));
}

TEST_CASE("A problem of eight outputs is judged by those of more sequences") {
  HeddleProcess heddle;
  heddle.environment()["PATH"] = "/usr/local/bin:/usr/bin:/bin";
  const auto result = heddle.run({"verify", "--device", "host", "--head-dim", "8", "--heads", "1",
                                  "--seqlen-q", "1", "--seqlen-kv", "300", "--seed", "3"});
  INFO(result.output << result.errors);
  CHECK(result.code == 0);
  CHECK_THAT(result.output, Catch::Contains("batch 128"));
}

/// e4m3 inputs, their scales and what they were made from, as files.
class ScaledFiles {
 public:
  ScaledFiles() {
    problem_.variant = {.dtype = DataType::kE4m3,
                        .head_dim = 64,
                        .mask = MaskKind::kCausal,
                        .scales = ScaleKind::kBlock,
                        .value_layout = ValueLayout::kTransposed};
    problem_.sizes = {.heads = 4, .kv_heads = 2, .seqlen_q = 130, .seqlen_kv = 150};
    const InputNumbers numbers = make_numbers(problem_, InputKind::kNormal, 9);
    const HostTensors tensors = make_inputs(problem_, InputKind::kNormal, 9);
    write("q", tensors.query, query_shape(problem_));
    write("k", tensors.key, key_value_shape(problem_));
    write("v", tensors.value, value_shape(problem_));
    write_numbers("qs", tensors.scales.query_descale, {1, 4, 2});
    write_numbers("ks", tensors.scales.key_descale, {1, 2, 2});
    write_numbers("vs", tensors.scales.value_descale, {1, 2});
    write_numbers("oq", numbers.query, extents(query_shape(problem_)));
    write_numbers("ok", numbers.key, extents(key_value_shape(problem_)));
    write_numbers("ov", numbers.value, extents(key_value_shape(problem_)));
  }

  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

  std::vector<std::string> arguments() const {
    return {"verify",          "--device",     "host",         "--dtype",         "e4m3",
            "--mask",          "causal",       "--scales",     "block",           "--value-layout",
            "transposed",      "--json",       "--q",          path("q"),         "--k",
            path("k"),         "--v",          path("v"),      "--query-descale", path("qs"),
            "--value-descale", path("vs"),     "--original-q", path("oq"),        "--original-k",
            path("ok"),        "--original-v", path("ov")};
  }

 private:
  void write(const std::string& name, const std::vector<std::uint16_t>& elements,
             const TensorShape& shape) const {
    const std::string bytes(elements.begin(), elements.end());  // the low bytes
    save(name, {"|u1", false, extents(shape)}, bytes);
  }
  void write_numbers(const std::string& name, const std::vector<float>& numbers,
                     const std::vector<long long>& shape) const {
    std::string bytes(numbers.size() * sizeof(float), ' ');
    std::memcpy(bytes.data(), numbers.data(), bytes.size());
    save(name, {"<f4", false, shape}, bytes);
  }
  void save(const std::string& name, const NpyHeader& header, const std::string& bytes) const {
    std::ofstream(path(name), std::ios::binary) << format_npy_header(header) << bytes;
  }
  static std::vector<long long> extents(const TensorShape& shape) {
    return {shape.batch, shape.heads, shape.rows, shape.columns};
  }

  TemporaryFolder folder_;
  Problem problem_;
};

TEST_CASE("verify judges e4m3 files by their scales, and tells the error against the originals") {
  const ScaledFiles files;
  HeddleProcess heddle;
  heddle.environment()["PATH"] = "/usr/local/bin:/usr/bin:/bin";
  const auto verify = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = files.arguments();
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto result = heddle.run(arguments);
    INFO(result.errors);
    REQUIRE(result.code == 0);
    return nlohmann::json::parse(result.output);
  };
  const auto right = verify({"--key-descale", files.path("ks")});
  CHECK(right["passed"] == true);
  // Rounding to e4m3 alone explains most of it.
  const double rounding = right["end_to_end"]["rounding_rms_error"];
  const double all = right["end_to_end"]["rms_error"];
  CHECK(rounding > 1e-3);
  CHECK((all > rounding && all < 2 * rounding));
  // A kernel may be right although the files do not belong together: the originals tell.
  const auto wrong = verify({});
  CHECK(wrong["passed"] == true);
  CHECK(wrong["end_to_end"]["rms_error"] > 5 * all);
}

TEST_CASE("scales of another shape are refused before anything is compiled") {
  const ScaledFiles files;
  std::vector<std::string> arguments = files.arguments();
  arguments.insert(arguments.end(), {"--key-descale", files.path("qs")});
  const auto result = HeddleProcess().run(arguments);
  CHECK(result.code == 2);
  CHECK_THAT(result.errors,
             Contains("key_descale: '") && Contains("[1, 4, 2]") && Contains("want [1, 2, 2]"));
}

}  // namespace
}  // namespace heddle
