#include "tests/gpu/twin_device.hpp"

#include <dlfcn.h>

#include <stdexcept>

#include "generator/error.hpp"
#include "runtime/driver_api.hpp"
#include "tests/host/kernels/arguments.cuh"

namespace heddle {
namespace {

/// cuTensorMapEncodeTiled, by the ABI of CUDA 12.0.
using EncodeTiled = DriverResult(TensorMap*, int type, unsigned rank, void* address,
                                 const std::uint64_t* dims, const std::uint64_t* strides,
                                 const std::uint32_t* box, const std::uint32_t* element_strides,
                                 int interleave, int swizzle, int l2_promotion, int fill);

}  // namespace

Nvrtc::Output compile_twin(const Nvrtc& nvrtc, const TwinCase& twin) {
  const KernelSource source = twin_source(twin);
  auto output = nvrtc.compile(source, compile_options(source.architecture));
  if (output.status == 0 && output.log.find("C75") == std::string::npos) return output;
  throw Error(ErrorCode::kCompileFailed, twin.file + ": " + output.status_name + "\n" + output.log);
}

struct TwinDevice::State {
  std::shared_ptr<const Driver> driver = Driver::load("");
  Device device{driver, 0};
  std::shared_ptr<const Nvrtc> nvrtc = Nvrtc::load("");
  EncodeTiled* encode = nullptr;
  std::map<std::string, DriverModule> modules;  ///< by file and element type

  DriverFunction function(const TwinCase& twin);
  TensorMap map(const TwinTensor& tensor, void* address) const;
};

TwinDevice::TwinDevice() : state_(std::make_unique<State>()) {
  state_->device.make_current();
  void* library = dlopen(state_->driver->library_path().c_str(), RTLD_NOW);
  state_->encode = reinterpret_cast<EncodeTiled*>(dlsym(library, "cuTensorMapEncodeTiled"));
  if (state_->encode == nullptr) throw std::runtime_error("no cuTensorMapEncodeTiled");
}

TwinDevice::~TwinDevice() {
  for (const auto& [name, module] : state_->modules) {
    state_->driver->api().cuModuleUnload(module);
  }
}

std::string TwinDevice::name() const {
  return state_->driver->device_name(0);
}

bool TwinDevice::is_hopper() const {
  return state_->device.limits().capability_major == 9;
}

DriverFunction TwinDevice::State::function(const TwinCase& twin) {
  const auto& api = driver->api();
  DriverModule& module = modules[twin.file + std::string(enum_name(twin.dtype))];
  if (module == nullptr) {
    const auto output = compile_twin(*nvrtc, twin);
    check_driver(api, api.cuModuleLoadData(&module, output.cubin.data()), "cuModuleLoadData");
  }
  DriverFunction found = nullptr;
  check_driver(api, api.cuModuleGetFunction(&found, module, twin.entry.c_str()),
               "cuModuleGetFunction");
  return found;
}

TensorMap TwinDevice::State::map(const TwinTensor& tensor, void* address) const {
  TensorMap result{};
  const TensorMapRequest& request = tensor.map;
  check_driver(driver->api(),
               encode(&result, static_cast<int>(request.type), static_cast<unsigned>(request.rank),
                      address, request.dims.data(), request.strides.data(), request.box.data(),
                      request.element_strides.data(), 0, static_cast<int>(request.swizzle), 0, 0),
               "cuTensorMapEncodeTiled");
  return result;
}

Bytes TwinDevice::run(const TwinCase& twin) {
  const auto& api = state_->driver->api();
  DeviceBuffer input(state_->device, std::max<std::size_t>(twin.input.size(), 16));
  DeviceBuffer output(state_->device, twin.output_bytes);
  DeviceBuffer at(state_->device, 32);
  input.upload(twin.input.data(), twin.input.size());
  output.fill(0);
  KernelArguments arguments{};
  arguments.pointers[0] = input.data();
  arguments.pointers[1] = output.data();
  arguments.numbers[0] = twin.number;
  if (twin.tensor) {
    at.upload(twin.tensor->at.data(), sizeof twin.tensor->at);
    arguments.pointers[2] = at.data();
    arguments.maps[0] =
        state_->map(*twin.tensor, twin.tensor->store ? output.data() : input.data());
  }
  const DriverFunction function = state_->function(twin);
  void* parameters[] = {&arguments};
  check_driver(
      api,
      api.cuLaunchKernel(function, static_cast<unsigned>(twin.blocks), 1, 1,
                         static_cast<unsigned>(twin.threads), 1, 1,
                         static_cast<unsigned>(twin.shared_bytes), nullptr, parameters, nullptr),
      "cuLaunchKernel");
  state_->device.synchronize();
  Bytes result(twin.output_bytes);
  output.download(result.data(), result.size());
  return result;
}

}  // namespace heddle
