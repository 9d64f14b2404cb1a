#pragma once
// A device, its memory and a compiler that need no GPU: what the serving tests stand on.

#include <cstring>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "runtime/context.hpp"
#include "runtime/driver_api.hpp"
#include "templates/mapped_parameters.cuh"
#include "tests/fake_driver/fake_cuda_handle.hpp"
#include "tests/runtime/error_matcher.hpp"

namespace heddle {

inline void* as_pointer(DevicePointer address) {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));
}

/// Resembles an A100, where fa3 cannot run: the default is fa2.
inline FakeDevice ampere() {
  FakeDevice device;
  device.capability_major = 8;
  device.sm_count = 108;
  device.shared_bytes_per_block = 166912;
  device.shared_bytes_per_sm = 167936;
  return device;
}

/// The fake driver with one context of device 0 made current.
class Serving {
 public:
  explicit Serving(const std::vector<FakeDevice>& devices = {FakeDevice{}})
      : cuda(HEDDLE_FAKE_CUDA_PATH), driver(Driver::load(HEDDLE_FAKE_CUDA_PATH)) {
    cuda.set_device_list(devices);
    context = cuda.create_context(0);
    set_current(context);
  }
  ~Serving() { set_current(nullptr); }

  const Driver::Api& api() const { return driver->api(); }
  void set_current(DriverContext which) const { api().cuCtxSetCurrent(which); }
  DriverContext current() const {
    DriverContext found = nullptr;
    api().cuCtxGetCurrent(&found);
    return found;
  }

  /// Memory of the current context; freed by the fake's reset.
  void* allocate(std::size_t bytes = 1 << 20) const {
    DevicePointer address = 0;
    check_driver(api(), api().cuMemAlloc(&address, bytes), "cuMemAlloc");
    return as_pointer(address);
  }

  Context::Options options() {
    Context::Options result;
    result.provider.driver_path = HEDDLE_FAKE_CUDA_PATH;
    result.provider.nvrtc_path = HEDDLE_FAKE_NVRTC_FOLDER "/13_loadable";
    result.provider.log = [this](const std::string& line) {
      const std::lock_guard lock(log_mutex_);
      log += line + "\n";
    };
    return result;
  }

  TensorPointers tensors() const {
    return {.query = allocate(), .key = allocate(), .value = allocate(), .output = allocate()};
  }

  FakeLaunch last_launch() const {
    FakeLaunch launch;
    REQUIRE(cuda.last_launch(&launch));
    return launch;
  }

  FakeCuda cuda;
  std::shared_ptr<const Driver> driver;
  DriverContext context = nullptr;
  std::string log;

 private:
  std::mutex log_mutex_;
};

inline AttentionParameters parameters_of(const FakeLaunch& launch) {
  AttentionParameters parameters;
  // Not a REQUIRE: hooks call this on threads where Catch must not be used.
  if (launch.parameter_bytes != sizeof parameters) throw std::logic_error("parameter size");
  std::memcpy(&parameters, launch.parameters, sizeof parameters);
  return parameters;
}

/// The same, also of a kernel that loads by TMA.
inline AttentionParameters attention_of(const FakeLaunch& launch) {
  MappedParameters mapped;
  if (launch.parameter_bytes != sizeof mapped) return parameters_of(launch);
  std::memcpy(static_cast<void*>(&mapped), launch.parameters, sizeof mapped);
  return mapped.attention;
}

/// Of fp16, for which no winner is stored: the default serves it, fa3 on sm_90a, fa2 on others.
inline Problem small_problem() {
  Problem problem;
  problem.variant.dtype = DataType::kFp16;
  problem.variant.head_dim = 64;
  problem.sizes = {.batch = 2, .heads = 8, .kv_heads = 2, .seqlen_q = 100, .seqlen_kv = 100};
  return problem;
}

}  // namespace heddle
