#pragma once

#include <dlfcn.h>

#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "generator/emit.hpp"
#include "tests/fake_nvrtc/fake_nvrtc.hpp"
#include "tests/runtime/temporary_folder.hpp"

namespace heddle {

/// The folder of one build of the fake NVRTC.
inline std::string fake_nvrtc(const std::string& variant = "13") {
  return std::string(HEDDLE_FAKE_NVRTC_FOLDER) + "/" + variant;
}

/// The control functions of one build, looked up by their own declarations; reset on both ends.
class FakeNvrtc {
 public:
  explicit FakeNvrtc(const std::string& variant = "13") {
    const std::string path = fake_nvrtc(variant) + "/libnvrtc.so." + variant.substr(0, 2);
    library_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    REQUIRE(library_ != nullptr);
    reset();
  }
  ~FakeNvrtc() { reset(); }
  FakeNvrtc(const FakeNvrtc&) = delete;
  FakeNvrtc& operator=(const FakeNvrtc&) = delete;

  void reset() { find<decltype(heddle_fake_nvrtc_reset)>("reset")(); }
  void fail_compile(int result) {
    find<decltype(heddle_fake_nvrtc_fail_compile)>("fail_compile")(result);
  }
  void cubin_size(long size) { find<decltype(heddle_fake_nvrtc_cubin_size)>("cubin_size")(size); }
  void delay_ms(int time) { find<decltype(heddle_fake_nvrtc_delay_ms)>("delay_ms")(time); }
  void log(const char* text) { find<decltype(heddle_fake_nvrtc_log)>("log")(text); }
  int compile_count() { return find<decltype(heddle_fake_nvrtc_compile_count)>("compile_count")(); }
  int live_programs() { return find<decltype(heddle_fake_nvrtc_live_programs)>("live_programs")(); }
  std::string last_options() {
    return find<decltype(heddle_fake_nvrtc_last_options)>("last_options")();
  }
  void architectures(const std::vector<int>& numbers) {
    find<decltype(heddle_fake_nvrtc_architectures)>("architectures")(
        numbers.data(), static_cast<int>(numbers.size()));
  }

 private:
  template <class Function>
  Function* find(const char* name) {
    void* symbol = dlsym(library_, (std::string("heddle_fake_nvrtc_") + name).c_str());
    REQUIRE(symbol != nullptr);
    return reinterpret_cast<Function*>(symbol);
  }
  void* library_ = nullptr;
};

/// A kernel with a header of ours, small enough to read in a message.
inline KernelSource small_source(const std::string& value = "42") {
  return {.part = KernelPart::kSplitCombine,
          .entry = "kernel",
          .architecture = "sm_90a",
          .main = {"kernel.cu",
                   "#include \"part/value.cuh\"\n"
                   "extern \"C\" __global__ void kernel(int* out) { *out = value(); }\n"},
          .headers = {{"part/value.cuh", "inline int value() { return " + value + "; }\n"}}};
}

}  // namespace heddle
