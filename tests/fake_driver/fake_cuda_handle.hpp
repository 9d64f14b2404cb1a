#pragma once
// How a test holds the fake driver's controls.

#include <dlfcn.h>

#include <initializer_list>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/fake_driver/fake_cuda.hpp"

namespace heddle {

/// The control functions of a loaded fake. Construction resets the fake, so each test starts clean.
struct FakeCuda {
#define HEDDLE_FAKE_MEMBER(name, ...)   \
  using name##_signature = __VA_ARGS__; \
  name##_signature* name = nullptr;
  HEDDLE_FAKE_CUDA_CONTROLS(HEDDLE_FAKE_MEMBER)
#undef HEDDLE_FAKE_MEMBER

  explicit FakeCuda(const std::string& path) {
    void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) throw std::runtime_error(dlerror());
#define HEDDLE_FAKE_RESOLVE(name, ...) \
  name = reinterpret_cast<name##_signature*>(find(handle, "fake_cuda_" #name));
    HEDDLE_FAKE_CUDA_CONTROLS(HEDDLE_FAKE_RESOLVE)
#undef HEDDLE_FAKE_RESOLVE
    reset();
  }

  void set_device_list(const std::vector<FakeDevice>& devices) const {
    set_devices(devices.data(), static_cast<int>(devices.size()));
  }

 private:
  static void* find(void* handle, const char* symbol) {
    void* address = dlsym(handle, symbol);
    if (address == nullptr) throw std::runtime_error(std::string(symbol) + " is missing");
    return address;
  }
};

/// An image that only the fake loads: kernel names and the size of their one parameter. The fake
/// takes real cubins too.
inline std::vector<char> fake_cubin(
    std::initializer_list<std::pair<const char*, std::size_t>> kernels) {
  std::string text =
      "\x7f"
      "ELF heddle-fake\n";
  for (const auto& [name, bytes] : kernels) {
    text += std::string(name) + " " + std::to_string(bytes) + "\n";
  }
  return {text.c_str(), text.c_str() + text.size() + 1};
}

}  // namespace heddle
