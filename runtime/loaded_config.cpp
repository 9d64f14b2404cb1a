#include "runtime/loaded_config.hpp"

#include <vector>

#include "generator/tensor_maps.hpp"
#include "runtime/driver_api.hpp"
#include "runtime/stream_scope.hpp"
#include "runtime/tile_counters.hpp"
#include "templates/mapped_parameters.cuh"

namespace heddle {
namespace {

// What every device grants without asking; more is an opt-in per function and context.
constexpr int kSharedBytesWithoutOptIn = 48 * 1024;

struct LoadedKernel {
  KernelPart part{};
  std::string entry;
  DriverModule module = nullptr;
  DriverFunction function = nullptr;
  LoadedConfig::Resources resources;
};

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

bool is_refused_image(DriverResult result) {
  return result == kDriverInvalidImage || result == kDriverNoBinaryForGpu ||
         result == kDriverInvalidPtx || result == kDriverUnsupportedPtxVersion;
}

[[noreturn]] void throw_load_error(const Driver& driver, const KernelImage& image,
                                   DriverResult result) {
  const std::string attempt = "cuModuleLoadData of kernel " + std::string(image.entry);
  if (!is_refused_image(result)) throw_driver_error(driver.api(), result, attempt);
  throw Error(ErrorCode::kDriverError,
              attempt + " failed: " + driver_error_text(driver.api(), result) + ". The driver (" +
                  version_text(driver.version()) + ") refuses a cubin for " +
                  std::string(image.architecture) + " built by " + std::string(image.compiler) +
                  "; update the NVIDIA driver, or use a libnvrtc no newer than the driver "
                  "($HEDDLE_NVRTC)");
}

void check_kernel(const Driver& driver, DriverResult result, const KernelImage& image,
                  const std::string& attempt) {
  if (result == kDriverSuccess) return;
  throw_driver_error(driver.api(), result, attempt + " of kernel " + std::string(image.entry));
}

void opt_in_shared_memory(const Driver& driver, const KernelImage& image, DriverFunction function) {
  if (image.shared_bytes <= kSharedBytesWithoutOptIn) return;
  const DriverResult result = driver.api().cuFuncSetAttribute(
      function, FunctionAttribute::kMaxDynamicSharedBytes, image.shared_bytes);
  check_kernel(driver, result, image,
               "opting in to " + std::to_string(image.shared_bytes) + " B of shared memory");
}

/// Reading an attribute also makes the driver load the kernel's code now: under lazy loading
/// (the default since 11.7 on Linux) it would otherwise come with the first launch, which may be
/// inside a stream capture.
LoadedConfig::Resources read_resources(const Driver& driver, const KernelImage& image,
                                       DriverFunction function) {
  const auto read = [&](FunctionAttribute which) {
    int value = 0;
    check_kernel(driver, driver.api().cuFuncGetAttribute(&value, which, function), image,
                 "cuFuncGetAttribute");
    return value;
  };
  return {read(FunctionAttribute::kRegisters), read(FunctionAttribute::kLocalBytes)};
}

void encode_map(const Driver& driver, const TensorMapRequest& request, TensorMap& map) {
  const auto& api = driver.api();
  check_driver(api,
               api.cuTensorMapEncodeTiled(
                   &map, static_cast<int>(request.type), static_cast<unsigned>(request.rank),
                   request.address, request.dims.data(), request.strides.data(), request.box.data(),
                   request.element_strides.data(), kNoInterleave, static_cast<int>(request.swizzle),
                   kNoL2Promotion, kFillZeros),
               "cuTensorMapEncodeTiled");
}

void encode_maps(const Driver& driver, const LaunchPlan& plan,
                 const AttentionParameters& parameters, MappedParameters& mapped) {
  const auto requests = tensor_map_requests(parameters, plan.maps);
  encode_map(driver, requests[0], mapped.query);
  encode_map(driver, requests[1], mapped.key);
  encode_map(driver, requests[2], mapped.value);
  if (plan.maps.stores) encode_map(driver, requests[3], mapped.output);
  mapped.attention = parameters;
}

[[noreturn]] void throw_launch_error(const Driver& driver, const LoadedKernel& kernel,
                                     const PartLaunch& launch, DriverResult result) {
  throw_driver_error(driver.api(), result,
                     "cuLaunchKernel of " + kernel.entry + " (" + std::to_string(launch.grid) +
                         " blocks of " + std::to_string(launch.threads) + " threads, " +
                         std::to_string(launch.shared_bytes) + " B of dynamic shared memory)");
}

}  // namespace

struct LoadedConfig::State {
  std::shared_ptr<const Driver> driver;
  DriverContext context = nullptr;
  std::vector<LoadedKernel> kernels;
  TileCounters counters;

  State(std::shared_ptr<const Driver> used_driver, DriverContext used_context)
      : driver(std::move(used_driver)), context(used_context) {}
  // Also the way out of a half-done load. Errors are dropped: the usual one is a driver that has
  // shut down before us at process exit, which took the modules along.
  ~State() {
    const Driver::Api& api = driver->api();
    if (kernels.empty() || api.cuCtxPushCurrent(context) != kDriverSuccess) return;
    for (const LoadedKernel& kernel : kernels) api.cuModuleUnload(kernel.module);
    DriverContext popped = nullptr;
    api.cuCtxPopCurrent(&popped);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void load(const KernelImage& image);
  const LoadedKernel* find(KernelPart part) const;
};

void LoadedConfig::State::load(const KernelImage& image) {
  const Driver::Api& api = driver->api();
  DriverModule module = nullptr;
  const DriverResult result = api.cuModuleLoadData(&module, image.cubin.data());
  if (result != kDriverSuccess) throw_load_error(*driver, image, result);
  LoadedKernel& kernel =
      kernels.emplace_back(LoadedKernel{image.part, std::string(image.entry), module, nullptr, {}});
  check_kernel(*driver, api.cuModuleGetFunction(&kernel.function, module, kernel.entry.c_str()),
               image, "cuModuleGetFunction");
  opt_in_shared_memory(*driver, image, kernel.function);
  kernel.resources = read_resources(*driver, image, kernel.function);
  if (image.draws_tiles) counters.find(api, module);
}

const LoadedKernel* LoadedConfig::State::find(KernelPart part) const {
  for (const LoadedKernel& kernel : kernels) {
    if (kernel.part == part) return &kernel;
  }
  return nullptr;
}

LoadedConfig::LoadedConfig(std::shared_ptr<const Driver> driver, DriverContext context,
                           std::span<const KernelImage> images)
    : state_(std::make_unique<State>(std::move(driver), context)) {
  state_->kernels.reserve(images.size());
  const ContextScope scope(state_->driver->api(), context);
  for (const KernelImage& image : images) state_->load(image);
}

LoadedConfig::~LoadedConfig() = default;

void LoadedConfig::launch(const LaunchPlan& plan, const AttentionParameters& parameters,
                          DriverStream stream) const {
  MappedParameters mapped;
  // The driver reads the parameters before it returns and never writes them.
  void* plain[] = {const_cast<AttentionParameters*>(&parameters)};
  void* with_maps[] = {&mapped};
  if (plan.maps.query_rows > 0) {
    encode_maps(*state_->driver, plan, parameters, mapped);
    if (plan.draws_tiles) {
      const bool is_captured = is_capturing(state_->driver->api(), stream);
      mapped.attention.tile_counter = state_->counters.take(is_captured);
    }
  }
  for (int i = 0; i < plan.count; ++i) {
    const PartLaunch& part = plan.launches[static_cast<std::size_t>(i)];
    const LoadedKernel* kernel = state_->find(part.part);
    if (kernel == nullptr) {
      throw Error(ErrorCode::kInternal, "the plan launches " + std::string(enum_name(part.part)) +
                                            ", which this config has not loaded");
    }
    const DriverResult result = state_->driver->api().cuLaunchKernel(
        kernel->function, part.grid, 1, 1, static_cast<unsigned>(part.threads), 1, 1,
        static_cast<unsigned>(part.shared_bytes), stream,
        loads_by_tma(part.part) ? with_maps : plain, nullptr);
    if (result != kDriverSuccess) throw_launch_error(*state_->driver, *kernel, part, result);
  }
}

DriverContext LoadedConfig::context() const {
  return state_->context;
}

bool LoadedConfig::is_loaded() const noexcept {
  for (const LoadedKernel& kernel : state_->kernels) {
    int registers = 0;
    const DriverResult result = state_->driver->api().cuFuncGetAttribute(
        &registers, FunctionAttribute::kRegisters, kernel.function);
    if (result != kDriverSuccess) return false;
  }
  return true;
}

LoadedConfig::Resources LoadedConfig::resources(KernelPart part) const {
  const LoadedKernel* kernel = state_->find(part);
  return kernel == nullptr ? Resources{} : kernel->resources;
}

}  // namespace heddle
