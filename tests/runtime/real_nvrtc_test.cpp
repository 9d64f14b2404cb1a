// What unit tests believe of NVRTC, checked against the real one. No GPU.
#include "tests/runtime/real_nvrtc.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>

#include <unistd.h>

#include <catch2/catch.hpp>

#include "generator/architecture.hpp"
#include "tests/runtime/temporary_folder.hpp"

namespace heddle {
namespace {

namespace fs = std::filesystem;

KernelSource kernel_source(const std::string& body, const std::string& helpers = "") {
  return {.part = KernelPart::kSplitCombine,
          .entry = "kernel",
          .architecture = "sm_90a",
          .main = {"kernel.cu", "#include \"part/value.cuh\"\n" + helpers +
                                    "extern \"C\" __global__ void " + body + "\n"},
          .headers = {{"part/value.cuh", "inline int value() { return 42; }\n"}}};
}

KernelSource small_source() {
  return kernel_source("kernel(int* out) { *out = value(); }");
}

Nvrtc::Output compile_for_hopper(const KernelSource& source) {
  return real_nvrtc_or_skip()->compile(source, compile_options(source.architecture));
}

TEST_CASE("the real NVRTC gives a cubin, PTX and the figures of its log") {
  const auto nvrtc = real_nvrtc_or_skip();
  CHECK(nvrtc->major_version() >= 12);
  CHECK(nvrtc->build_id().size() == 40);
  CHECK(std::count(nvrtc->supported_architectures().begin(), nvrtc->supported_architectures().end(),
                   90) == 1);
  const auto output = compile_for_hopper(
      kernel_source("kernel(int* out) { __shared__ int tile[64]; tile[*out] = value(); "
                    "out[1] = tile[out[2]]; }"));
  INFO(output.log);
  REQUIRE(output.status == 0);
  CHECK(std::memcmp(output.cubin.data(), "\177ELF", 4) == 0);
  CHECK_THAT(output.ptx, Catch::Contains(".target sm_90a") && Catch::Contains(".entry kernel"));
  const CompileNotes notes = parse_compile_log(output.log, "kernel");
  CHECK(notes.registers > 0);
  CHECK(notes.registers <= 255);
  CHECK(notes.static_shared_bytes == 256);
  CHECK(notes.spill_store_bytes == 0);
  CHECK_FALSE(reject_notes(notes));
}

TEST_CASE("files and include paths of the machine change nothing (C84)") {
  real_nvrtc_or_skip();
  const auto clean = compile_for_hopper(small_source());
  REQUIRE(clean.status == 0);
  const TemporaryFolder folder;
  fs::create_directories(folder.path() / "part");
  std::ofstream(folder.path() / "part" / "value.cuh") << "#error this file must not be read\n";
  for (const char* name : {"CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH"}) {
    setenv(name, folder.path().c_str(), 1);
  }
  const fs::path before = fs::current_path();
  fs::current_path(folder.path());
  const auto strange = compile_for_hopper(small_source());
  fs::current_path(before);
  for (const char* name : {"CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH"}) unsetenv(name);
  INFO(strange.log);
  REQUIRE(strange.status == 0);
  CHECK(strange.cubin == clean.cubin);
}

TEST_CASE("an error is reported at our header's name and line (C34)") {
  real_nvrtc_or_skip();
  KernelSource source = small_source();
  source.headers[0].text = "\ninline int value() { return 42 }\n";
  Compiler compiler(Compiler::Options{});
  try {
    compiler.compile(source);
    FAIL("compiled");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::kCompileFailed);
    CHECK_THAT(error.what(),
               Catch::Contains("part/value.cuh(2)") && Catch::Contains("NVRTC_ERROR_COMPILATION"));
  }
}

TEST_CASE("spills are seen and reject (C87)") {
  const auto output = compile_for_hopper(
      kernel_source("__launch_bounds__(1024) kernel(volatile float* out) { float a[96];\n"
                    "#pragma unroll\n"
                    "for (int i = 0; i < 96; ++i) a[i] = out[i * 64];\n"
                    "__syncthreads();\n"
                    "#pragma unroll\n"
                    "for (int i = 0; i < 96; ++i) out[i * 64 + 1] = a[i]; }"));
  INFO(output.log);
  REQUIRE(output.status == 0);
  const CompileNotes notes = parse_compile_log(output.log, "kernel");
  CHECK(notes.registers == 64);
  CHECK(notes.spill_store_bytes > 16);
  CHECK(reject_notes(notes));
}

TEST_CASE("serialised wgmma and ignored setmaxnreg are seen and reject (C87)") {
  const auto wgmma = compile_for_hopper(kernel_source(
      "kernel(float* out, unsigned long long a) { float d[4] = {};\n"
      "for (int i = 0; i < 4; ++i) {\n"
      "asm volatile(\"wgmma.fence.sync.aligned;\");\n"
      "asm volatile(\"wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0,%1,%2,%3}, %4, %4, "
      "1, 1, 1, 0, 0;\" : \"+f\"(d[0]), \"+f\"(d[1]), \"+f\"(d[2]), \"+f\"(d[3]) : \"l\"(a));\n"
      "d[0] *= 2;\n"
      "asm volatile(\"wgmma.commit_group.sync.aligned;\"); }\n"
      "asm volatile(\"wgmma.wait_group.sync.aligned 0;\");\n"
      "out[threadIdx.x] = d[0] + d[1] + d[2] + d[3]; }"));
  INFO(wgmma.log);
  REQUIRE(wgmma.status == 0);
  const CompileNotes serialised = parse_compile_log(wgmma.log, "kernel");
  CHECK_THAT(serialised.remarks, Catch::Contains("C75"));
  CHECK(reject_notes(serialised));

  const auto setmaxnreg = compile_for_hopper(
      kernel_source("kernel(int* out) { asm volatile(\"setmaxnreg.inc.sync.aligned.u32 240;\");\n"
                    "*out = value(); }"));
  INFO(setmaxnreg.log);
  REQUIRE(setmaxnreg.status == 0);
  CHECK(reject_notes(parse_compile_log(setmaxnreg.log, "kernel")));
}

TEST_CASE("every architecture that heddle and this NVRTC know compiles") {
  const auto nvrtc = real_nvrtc_or_skip();
  int compiled = 0;
  for (const DeviceLimits& row : architecture_table()) {
    const int number = row.capability_major * 10 + row.capability_minor;
    const auto& known = nvrtc->supported_architectures();
    if (std::find(known.begin(), known.end(), number) == known.end()) continue;
    const auto output = nvrtc->compile(small_source(), compile_options(row.architecture));
    INFO(row.architecture << ": " << output.log);
    CHECK(output.status == 0);
    CHECK_FALSE(output.cubin.empty());
    ++compiled;
  }
  CHECK(compiled > 0);
}

/// Runs the probe as a process of its own.
std::string run_probe(const fs::path& cache) {
  const std::string command =
      std::string("'") + HEDDLE_COMPILE_PROBE + "' '" + cache.string() + "'";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  REQUIRE(pipe != nullptr);
  std::array<char, 4096> line{};
  std::string output;
  while (std::fgets(line.data(), line.size(), pipe.get()) != nullptr) output += line.data();
  return output;
}

TEST_CASE("a second process takes the kernel from the cache without loading NVRTC") {
  real_nvrtc_or_skip();
  const TemporaryFolder folder;
  CHECK_THAT(run_probe(folder.path() / "cubins.db"),
             Catch::Contains("from_cache=0 nvrtc_loaded=1"));
  double best = 1e9;
  for (int run = 0; run < 5; ++run) {
    const std::string warm = run_probe(folder.path() / "cubins.db");
    CHECK_THAT(warm, Catch::Contains("from_cache=1 nvrtc_loaded=0"));
    const std::size_t figure = warm.find("processor=");
    REQUIRE(figure != std::string::npos);
    best = std::min(best, std::stod(warm.substr(figure + std::strlen("processor="))));
  }
#ifndef __SANITIZE_ADDRESS__
  CHECK(best <= 5.0);  // milliseconds of processor time: a busy machine does not inflate it
#endif
}

}  // namespace
}  // namespace heddle
