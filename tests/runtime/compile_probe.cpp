// compile_probe CACHE: a process that wants one kernel, as a user's would, and says what it took.
#include <dlfcn.h>

#include <chrono>
#include <cstdio>
#include <ctime>

#include "generator/error.hpp"
#include "runtime/compiler.hpp"

namespace {

/// Processor time of this process: what a busy machine does not inflate.
double processor_milliseconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

}  // namespace

int main(int argc, char** argv) {
  const heddle::KernelSource source{
      .part = heddle::KernelPart::kSplitCombine,
      .entry = "kernel",
      .architecture = "sm_90a",
      .main = {"kernel.cu",
               "#include \"part/value.cuh\"\n"
               "extern \"C\" __global__ void kernel(int* out) { *out = value(); }\n"},
      .headers = {{"part/value.cuh", "inline int value() { return 42; }\n"}}};
  heddle::Compiler::Options options;
  options.cache.path = argc > 1 ? argv[1] : "";
  try {
    const double processor_start = processor_milliseconds();
    const auto start = std::chrono::steady_clock::now();
    heddle::Compiler compiler(options);
    const auto kernel = compiler.compile(source);
    const std::chrono::duration<double, std::milli> elapsed =
        std::chrono::steady_clock::now() - start;
    const double processor = processor_milliseconds() - processor_start;
    const bool loaded = dlopen("libnvrtc.so.13", RTLD_LAZY | RTLD_NOLOAD) != nullptr;
    std::printf("from_cache=%d nvrtc_loaded=%d bytes=%zu milliseconds=%.2f processor=%.2f",
                kernel->from_cache, loaded, kernel->cubin.size(), elapsed.count(), processor);
    if (loaded) std::printf(" nvrtc=%s", compiler.nvrtc().library_path().c_str());
    std::printf("\n");
  } catch (const heddle::Error& error) {
    std::printf("%s\n", error.what());
    return 3;
  }
  return 0;
}
