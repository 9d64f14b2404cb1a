#include "runtime/driver.hpp"

#include <dlfcn.h>
#include <link.h>

#include <array>
#include <climits>
#include <cstdlib>

#include "runtime/driver_api.hpp"

namespace heddle {
namespace {

constexpr const char* kDriverSoname = "libcuda.so.1";

/// An open library is never closed: kernels, contexts and exit handlers of the driver live in it.
struct Library {
  void* handle = nullptr;
  std::string path;  ///< of the file the loader took
};

std::string loaded_path(void* handle, const std::string& fallback) {
  link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr || *map->l_name == '\0') {
    return fallback;
  }
  std::array<char, PATH_MAX> resolved{};
  return realpath(map->l_name, resolved.data()) != nullptr ? resolved.data() : map->l_name;
}

Library open_library(const std::string& name) {
  void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* reason = dlerror();
    throw Error(ErrorCode::kDriverMissing, "driver",
                "no CUDA driver: " + std::string(kDriverSoname) + " could not be opened as '" +
                    name + "' (" + (reason != nullptr ? reason : "unknown reason") +
                    "); install the NVIDIA driver, or in a container start it with GPU access");
  }
  return {handle, loaded_path(handle, name)};
}

[[noreturn]] void throw_stub(const Library& library) {
  throw Error(ErrorCode::kDriverMissing, "driver",
              "found only the CUDA stub driver at " + library.path +
                  "; it serves linking alone: install the NVIDIA driver, and take the toolkit's "
                  "stubs folder out of LD_LIBRARY_PATH");
}

template <class Function>
Function* find_symbol(const Library& library, const char* symbol) {
  return reinterpret_cast<Function*>(dlsym(library.handle, symbol));
}

/// Asked before anything else is resolved, so that an old driver is called old, not incomplete.
int checked_version(const Library& library) {
  const auto get_version =
      find_symbol<Driver::Api::cuDriverGetVersion_signature>(library, "cuDriverGetVersion");
  if (get_version == nullptr) {
    throw Error(ErrorCode::kDriverMissing, "driver",
                library.path +
                    " is not a CUDA driver (it has no cuDriverGetVersion); install the "
                    "NVIDIA driver, or correct $HEDDLE_CUDA_DRIVER");
  }
  int version = 0;
  const DriverResult result = get_version(&version);
  if (result == kDriverStubLibrary) throw_stub(library);
  if (result != kDriverSuccess || version < kOldestDriverVersion) {
    throw Error(ErrorCode::kDriverMissing, "driver",
                "the CUDA driver at " + library.path + " is of version " +
                    std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10) +
                    "; heddle needs 12.0 or newer: install NVIDIA driver 525 or newer");
  }
  return version;
}

void* resolve(const Library& library, GetProcAddress* get_address, const char* name,
              const char* symbol) {
  void* address = nullptr;
  if (get_address != nullptr) {
    // Version 12000 fixes which revision of an entry point is returned, however new the driver.
    const DriverResult result = get_address(name, &address, kOldestDriverVersion, 0, nullptr);
    if (result == kDriverSuccess && address != nullptr) return address;
  }
  address = dlsym(library.handle, symbol);
  if (address == nullptr) {
    throw Error(
        ErrorCode::kDriverMissing, "driver",
        "the CUDA driver at " + library.path + " has no " + symbol + "; update the NVIDIA driver");
  }
  return address;
}

Driver::Api resolve_api(const Library& library) {
  const auto get_address = find_symbol<GetProcAddress>(library, "cuGetProcAddress_v2");
  Driver::Api api;
#define HEDDLE_RESOLVE(member, symbol, ...)                        \
  api.member = reinterpret_cast<Driver::Api::member##_signature*>( \
      resolve(library, get_address, #member, #symbol));
  HEDDLE_DRIVER_ENTRY_POINTS(HEDDLE_RESOLVE)
#undef HEDDLE_RESOLVE
  return api;
}

void initialize(const Library& library, const Driver::Api& api) {
  const DriverResult result = api.cuInit(0);
  if (result == kDriverStubLibrary) throw_stub(library);
  if (result == kDriverNoDevice) {
    throw Error(ErrorCode::kDeviceMissing, "device",
                "the CUDA driver at " + library.path + " sees no device (" +
                    driver_error_text(api, result) +
                    "); check nvidia-smi, CUDA_VISIBLE_DEVICES and the container's GPU access");
  }
  if (result != kDriverSuccess) {
    throw_driver_error(api, result, "cuInit of " + library.path);
  }
}

}  // namespace

struct Driver::State {
  Library library;
  Api api;
  int version = 0;
  int device_count = 0;
};

Driver::Driver() : state_(std::make_unique<State>()) {}
Driver::~Driver() = default;

std::shared_ptr<const Driver> Driver::load(const std::string& path) {
  const char* from_environment = std::getenv("HEDDLE_CUDA_DRIVER");
  std::string name = path;
  if (name.empty() && from_environment != nullptr) name = from_environment;
  if (name.empty()) name = kDriverSoname;

  std::shared_ptr<Driver> driver(new Driver());
  State& state = *driver->state_;
  state.library = open_library(name);
  if (state.library.path.find("/stubs/") != std::string::npos) throw_stub(state.library);
  state.version = checked_version(state.library);
  state.api = resolve_api(state.library);
  initialize(state.library, state.api);
  check_driver(state.api, state.api.cuDeviceGetCount(&state.device_count), "cuDeviceGetCount");
  if (state.device_count == 0) {
    throw Error(ErrorCode::kDeviceMissing, "device",
                "the CUDA driver at " + state.library.path +
                    " works but lists 0 devices; check nvidia-smi and CUDA_VISIBLE_DEVICES");
  }
  return driver;
}

int Driver::version() const {
  return state_->version;
}
int Driver::device_count() const {
  return state_->device_count;
}
const std::string& Driver::library_path() const {
  return state_->library.path;
}
const Driver::Api& Driver::api() const {
  return state_->api;
}

}  // namespace heddle
