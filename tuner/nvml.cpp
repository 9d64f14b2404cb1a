#include "tuner/nvml.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include <fmt/format.h>

namespace heddle {
namespace {

constexpr const char* kSoname = "libnvidia-ml.so.1";

// After the ABI of nvml.h as of driver 510; every later driver keeps it.
using Result = int;  // nvmlReturn_t
using DeviceHandle = void*;
struct Utilization {
  unsigned gpu, memory;
};
struct ProcessInfo {  // nvmlProcessInfo_v2_t
  unsigned pid;
  unsigned long long used_bytes;
  unsigned gpu_instance, compute_instance;
};
constexpr Result kSuccess = 0;
constexpr unsigned long long kNotAvailable = ~0ull;
constexpr unsigned kMostProcesses = 64;

struct Api {
  Result (*init)() = nullptr;
  Result (*shutdown)() = nullptr;
  Result (*find)(const char*, DeviceHandle*) = nullptr;
  Result (*utilization)(DeviceHandle, Utilization*) = nullptr;
  Result (*processes)(DeviceHandle, unsigned*, ProcessInfo*) = nullptr;
  const char* (*text)(Result) = nullptr;
  Result (*driver_version)(char*, unsigned) = nullptr;  ///< may be missing
};

std::string process_name(unsigned pid) {
  std::string name;
  std::getline(std::ifstream(fmt::format("/proc/{}/comm", pid)), name);
  return name;
}

}  // namespace

struct Nvml::State {
  Api api;
  DeviceHandle device = nullptr;
  bool initialised = false;
  std::string problem;

  ~State() {
    if (initialised) api.shutdown();
  }

  template <class Function>
  bool resolve(void* library, const char* symbol, Function*& function) {
    function = reinterpret_cast<Function*>(dlsym(library, symbol));
    if (function == nullptr) problem = fmt::format("the NVML library has no {}", symbol);
    return function != nullptr;
  }

  bool open(const std::string& name) {
    void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      problem = fmt::format("no NVML: '{}' could not be opened", name);
      return false;
    }
    api.driver_version =
        reinterpret_cast<Result (*)(char*, unsigned)>(dlsym(library, "nvmlSystemGetDriverVersion"));
    return resolve(library, "nvmlInit_v2", api.init) &&
           resolve(library, "nvmlShutdown", api.shutdown) &&
           resolve(library, "nvmlDeviceGetHandleByPciBusId_v2", api.find) &&
           resolve(library, "nvmlDeviceGetUtilizationRates", api.utilization) &&
           resolve(library, "nvmlDeviceGetComputeRunningProcesses_v3", api.processes) &&
           resolve(library, "nvmlErrorString", api.text);
  }

  bool succeeds(Result result, const char* call) {
    if (result != kSuccess) problem = fmt::format("{}: {}", call, api.text(result));
    return result == kSuccess;
  }

  /// An empty list where there are none, or NVML does not say.
  std::vector<GpuUser> users() {
    unsigned count = kMostProcesses;
    ProcessInfo infos[kMostProcesses] = {};
    if (api.processes(device, &count, infos) != kSuccess) return {};
    std::vector<GpuUser> found;
    for (unsigned i = 0; i < count; ++i) {
      if (infos[i].pid == static_cast<unsigned>(::getpid())) continue;
      const bool known = infos[i].used_bytes != kNotAvailable;
      found.push_back({infos[i].pid, process_name(infos[i].pid),
                       known ? static_cast<long long>(infos[i].used_bytes) : 0});
    }
    return found;
  }
};

Nvml::Nvml(const std::string& pci_bus_id) : state_(std::make_unique<State>()) {
  const char* given = std::getenv("HEDDLE_NVML");
  State& state = *state_;
  if (!state.open(given != nullptr && *given != '\0' ? given : kSoname)) return;
  if (!state.succeeds(state.api.init(), "nvmlInit")) return;
  state.initialised = true;
  if (state.succeeds(state.api.find(pci_bus_id.c_str(), &state.device),
                     "nvmlDeviceGetHandleByPciBusId")) {
    return;
  }
  state.device = nullptr;
}

Nvml::~Nvml() = default;

std::optional<GpuActivity> Nvml::activity() {
  State& state = *state_;
  if (state.device == nullptr) return std::nullopt;
  Utilization utilization{};
  if (!state.succeeds(state.api.utilization(state.device, &utilization),
                      "nvmlDeviceGetUtilizationRates")) {
    return std::nullopt;
  }
  return GpuActivity{static_cast<int>(utilization.gpu), state.users()};
}

std::string Nvml::driver_version() const {
  constexpr unsigned kBytes = 80;  // NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE
  char text[kBytes] = {};
  if (state_->device == nullptr || state_->api.driver_version == nullptr) return {};
  return state_->api.driver_version(text, kBytes) == kSuccess ? text : "";
}

const std::string& Nvml::problem() const {
  return state_->problem;
}

}  // namespace heddle
