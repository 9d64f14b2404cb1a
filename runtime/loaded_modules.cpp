#include "runtime/loaded_modules.hpp"

#include "runtime/driver_api.hpp"

namespace heddle {
namespace {

// What every device grants without asking; more is an opt-in per function and context.
constexpr int kSharedBytesWithoutOptIn = 48 * 1024;

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
KernelResources read_resources(const Driver& driver, const KernelImage& image,
                               DriverFunction function) {
  const auto read = [&](FunctionAttribute which) {
    int value = 0;
    check_kernel(driver, driver.api().cuFuncGetAttribute(&value, which, function), image,
                 "cuFuncGetAttribute");
    return value;
  };
  return {read(FunctionAttribute::kRegisters), read(FunctionAttribute::kLocalBytes)};
}

}  // namespace

LoadedModules::LoadedModules(std::shared_ptr<const Driver> driver, DriverContext context)
    : driver_(std::move(driver)), context_(context) {}

/// Also the way out of a half-done load. Errors are dropped: the usual one is a driver that has
/// shut down before us at process exit, which took the modules along.
LoadedModules::~LoadedModules() {
  const Driver::Api& api = driver_->api();
  if (kernels_.empty() || api.cuCtxPushCurrent(context_) != kDriverSuccess) return;
  for (const LoadedKernel& kernel : kernels_) api.cuModuleUnload(kernel.module);
  DriverContext popped = nullptr;
  api.cuCtxPopCurrent(&popped);
}

const LoadedKernel& LoadedModules::load(const KernelImage& image) {
  const Driver::Api& api = driver_->api();
  DriverModule module = nullptr;
  const DriverResult result = api.cuModuleLoadData(&module, image.cubin.data());
  if (result != kDriverSuccess) throw_load_error(*driver_, image, result);
  LoadedKernel& kernel = kernels_.emplace_back(
      LoadedKernel{image.part, std::string(image.entry), module, nullptr, {}});
  check_kernel(*driver_, api.cuModuleGetFunction(&kernel.function, module, kernel.entry.c_str()),
               image, "cuModuleGetFunction");
  opt_in_shared_memory(*driver_, image, kernel.function);
  kernel.resources = read_resources(*driver_, image, kernel.function);
  return kernel;
}

void LoadedModules::launch(const LoadedKernel& kernel, const LaunchShape& shape, void** parameters,
                           DriverStream stream) const {
  const DriverResult result = driver_->api().cuLaunchKernel(
      kernel.function, shape.grid, 1, 1, static_cast<unsigned>(shape.threads), 1, 1,
      static_cast<unsigned>(shape.shared_bytes), stream, parameters, nullptr);
  if (result == kDriverSuccess) return;
  throw_driver_error(driver_->api(), result,
                     "cuLaunchKernel of " + kernel.entry + " (" + std::to_string(shape.grid) +
                         " blocks of " + std::to_string(shape.threads) + " threads, " +
                         std::to_string(shape.shared_bytes) + " B of dynamic shared memory)");
}

bool LoadedModules::are_loaded() const noexcept {
  for (const LoadedKernel& kernel : kernels_) {
    int registers = 0;
    const DriverResult result = driver_->api().cuFuncGetAttribute(
        &registers, FunctionAttribute::kRegisters, kernel.function);
    if (result != kDriverSuccess) return false;
  }
  return true;
}

}  // namespace heddle
