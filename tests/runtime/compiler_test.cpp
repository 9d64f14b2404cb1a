#include "runtime/compiler.hpp"

#include <atomic>
#include <fstream>
#include <thread>

#include "tests/runtime/error_matcher.hpp"
#include "tests/runtime/fake_nvrtc_handle.hpp"

namespace heddle {
namespace {

namespace fs = std::filesystem;

constexpr int kCompilationFailed = 6;

Compiler::Options options_for(const fs::path& folder, const std::string& variant = "13") {
  Compiler::Options options;
  options.nvrtc_path = fake_nvrtc(variant);
  options.cache.path = folder.empty() ? "" : (folder / "cubins.db").string();
  return options;
}

std::string text_of(const CompiledKernel& kernel) {
  return {kernel.cubin.begin(), kernel.cubin.end()};
}

/// Whether a fresh compiler takes this source from the cache.
bool is_hit(const Compiler::Options& options, const KernelSource& source) {
  return Compiler(options).compile(source)->from_cache;
}

TEST_CASE("a kernel is compiled once, with heddle's options and its headers by name") {
  FakeNvrtc fake;
  Compiler compiler(options_for({}));
  const auto first = compiler.compile(small_source());
  const auto second = compiler.compile(small_source());
  CHECK(first == second);
  CHECK(compiler.compile_count() == 1);
  CHECK_FALSE(first->from_cache);
  CHECK(first->entry == "kernel");
  CHECK(first->notes.registers == 42);
  CHECK(first->notes.seconds > 0);
  CHECK_THAT(text_of(*first), Catch::Contains("// part/value.cuh\ninline int value()"));
  CHECK(fake.last_options() ==
        "--no-cache\n--gpu-architecture=sm_90a\n--std=c++17\n"
        "--device-as-default-execution-space\n--ptxas-options=-v\n");
  CHECK(fake.live_programs() == 0);
}

TEST_CASE("an NVRTC before 12.9 has no cache to be told off") {
  FakeNvrtc fake("12");
  Compiler::Options options;
  options.nvrtc_path = fake_nvrtc("12");
  Compiler(options).compile(small_source());
  CHECK_THAT(fake.last_options(), Catch::StartsWith("--gpu-architecture"));
}

TEST_CASE("the next process takes it from the store") {
  FakeNvrtc fake;
  const TemporaryFolder folder;
  const auto options = options_for(folder.path());
  const std::string cold = text_of(*Compiler(options).compile(small_source()));
  Compiler compiler(options);
  const auto warm = compiler.compile(small_source());
  CHECK(warm->from_cache);
  CHECK(text_of(*warm) == cold);
  CHECK(warm->notes.registers == 42);
  CHECK(compiler.compile_count() == 0);
}

TEST_CASE("each part of a cubin's identity is a miss when it changes, a hit when undone (C17)") {
  FakeNvrtc fake;
  FakeNvrtc other("13_other");
  const TemporaryFolder folder;
  const auto options = options_for(folder.path());
  REQUIRE_FALSE(is_hit(options, small_source()));

  KernelSource sm_80 = small_source();
  sm_80.architecture = "sm_80";
  CHECK_FALSE(is_hit(options, sm_80));

  CHECK_FALSE(is_hit(options, small_source("43")));

  auto line_info = options;
  line_info.extra_options = {"-lineinfo"};
  CHECK_FALSE(is_hit(line_info, small_source()));

  CHECK_FALSE(is_hit(options_for(folder.path(), "13_other"), small_source()));
  CHECK_FALSE(is_hit(options_for(folder.path(), "13_no_id"), small_source()));

  CHECK(is_hit(options, small_source()));
  CHECK(is_hit(options_for(folder.path(), "13_no_id"), small_source()));
}

TEST_CASE("threads that want the same kernel wait for one compile") {
  FakeNvrtc fake;
  fake.delay_ms(100);
  Compiler compiler(options_for({}));
  std::vector<std::shared_ptr<const CompiledKernel>> results(16);
  std::vector<std::thread> threads;
  for (auto& result : results) {
    threads.emplace_back([&] { result = compiler.compile(small_source()); });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(fake.compile_count() == 1);
  for (const auto& result : results) CHECK(result == results.front());
}

TEST_CASE("a failure reaches every waiting thread and is kept nowhere") {
  FakeNvrtc fake;
  fake.delay_ms(100);
  fake.fail_compile(kCompilationFailed);
  const TemporaryFolder folder;
  Compiler compiler(options_for(folder.path()));
  std::atomic<int> failures{0};
  std::vector<std::thread> threads;
  for (int index = 0; index < 8; ++index) {
    threads.emplace_back([&] {
      try {
        compiler.compile(small_source());
      } catch (const Error& error) {
        failures += error.code() == ErrorCode::kCompileFailed ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(failures == 8);
  fake.fail_compile(0);
  CHECK_FALSE(compiler.compile(small_source())->from_cache);
}

TEST_CASE("a failed compile says stage, code, options, log and where the source is (C34)") {
  FakeNvrtc fake;
  fake.fail_compile(kCompilationFailed);
  fake.log("part/value.cuh(1): error: expected a \";\"\n");
  const TemporaryFolder folder;
  Compiler compiler(options_for(folder.path()));
  require_error(ErrorCode::kCompileFailed,
                {"kernel", "nvrtcCompileProgram", "NVRTC_ERROR_COMPILATION", "(code 6)",
                 "NVRTC 13.0", fake_nvrtc(), "--gpu-architecture=sm_90a", "failed_sources",
                 "part/value.cuh(1): error: expected a \";\""},
                [&] { compiler.compile(small_source()); });
  const auto saved = fs::directory_iterator(folder.path() / "failed_sources");
  std::ifstream file(saved->path());
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  CHECK_THAT(text, Catch::Contains("void kernel(int* out)") && Catch::Contains("return 42;"));
}

TEST_CASE("an empty cubin is a failure, and the next good compile works (C34)") {
  FakeNvrtc fake;
  fake.cubin_size(0);
  const TemporaryFolder folder;
  const auto options = options_for(folder.path());
  require_error(ErrorCode::kCompileFailed, {"nvrtcGetCUBIN", "empty cubin"},
                [&] { Compiler(options).compile(small_source()); });
  fake.cubin_size(-1);
  CHECK_FALSE(is_hit(options, small_source()));
  CHECK(is_hit(options, small_source()));
}

TEST_CASE("a thousand failures leave no program and few files behind (C34)") {
  FakeNvrtc fake;
  fake.fail_compile(kCompilationFailed);
  const TemporaryFolder folder;
  Compiler compiler(options_for(folder.path()));
  for (int index = 0; index < 1000; ++index) {
    CHECK_THROWS_AS(compiler.compile(small_source(std::to_string(index))), Error);
  }
  CHECK(fake.compile_count() == 1000);
  CHECK(fake.live_programs() == 0);
  const auto files = fs::directory_iterator(folder.path() / "failed_sources");
  CHECK(std::distance(begin(files), end(files)) == 16);
}

TEST_CASE("a GPU newer than NVRTC is explained before any compile (C60)") {
  FakeNvrtc fake;
  fake.architectures({50, 80, 90});
  KernelSource source = small_source();
  source.architecture = "sm_120";
  Compiler compiler(options_for({}));
  require_error(ErrorCode::kNvrtcMissing,
                {"NVRTC 13.0", fake_nvrtc(), "sm_120", "sm_50, sm_80, sm_90", "pip install"},
                [&] { compiler.compile(source); });
  CHECK(fake.compile_count() == 0);
}

TEST_CASE("only a real architecture is compiled for (C36)") {
  FakeNvrtc fake;
  Compiler compiler(options_for({}));
  KernelSource source = small_source();
  for (const char* architecture : {"compute_90", "", "sm_", "90a"}) {
    source.architecture = architecture;
    require_error(ErrorCode::kInvalidArgument, {"sm_90a"}, [&] { compiler.compile(source); });
  }
  CHECK(fake.compile_count() == 0);
}

TEST_CASE("options reach NVRTC as they are, whatever they hold (C61)") {
  FakeNvrtc fake;
  auto options = options_for({});
  options.extra_options = {"-DPATH=/tmp/a b/ключ/it's \"q\" %d;$HOME"};
  Compiler(options).compile(small_source());
  CHECK_THAT(fake.last_options(), Catch::EndsWith(options.extra_options[0] + "\n"));
}

TEST_CASE("a missing NVRTC is said at the first compile, not before") {
  Compiler::Options options;
  options.nvrtc_path = "/nonexistent/cuda";
  Compiler compiler(options);
  require_error(ErrorCode::kNvrtcMissing, {"/nonexistent/cuda", "pip install"},
                [&] { compiler.compile(small_source()); });
  require_error(ErrorCode::kNvrtcMissing, {"/nonexistent/cuda"}, [&] { compiler.nvrtc(); });
}

TEST_CASE("kernels beyond the memory limit are dropped, oldest first") {
  FakeNvrtc fake;
  auto options = options_for({});
  options.memory_bytes = 1;  // room for the newest only
  Compiler compiler(options);
  compiler.compile(small_source("1"));
  compiler.compile(small_source("1"));
  CHECK(compiler.compile_count() == 1);
  compiler.compile(small_source("2"));
  compiler.compile(small_source("2"));
  CHECK(compiler.compile_count() == 2);
}

}  // namespace
}  // namespace heddle
