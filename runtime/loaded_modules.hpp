#pragma once

#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "generator/kernel_part.hpp"
#include "runtime/driver.hpp"

namespace heddle {

/// One compiled kernel on its way into a context. Only views: nothing is kept after loading.
struct KernelImage {
  KernelPart part{};
  std::string_view entry;
  std::span<const char> cubin;
  int shared_bytes = 0;           ///< dynamic, as part_footprint() says
  std::string_view architecture;  ///< "sm_90a"; with `compiler` for the message of a refused load
  std::string_view compiler;      ///< "NVRTC 13.0"
  bool draws_tiles = false;       ///< the module holds tile counters
};

/// As the driver reports them after loading.
struct KernelResources {
  int registers = 0;
  int local_bytes = 0;  ///< per thread: stack and spills
};

struct LoadedKernel {
  KernelPart part{};
  std::string entry;
  DriverModule module = nullptr;
  DriverFunction function = nullptr;
  KernelResources resources;
};

struct LaunchShape {
  unsigned grid = 0;
  int threads = 0;
  int shared_bytes = 0;
};

/// Kernels in one context, loaded eagerly and unloaded together.
class LoadedModules {
 public:
  LoadedModules(std::shared_ptr<const Driver> driver, DriverContext context);
  /// No launch may be in flight.
  ~LoadedModules();
  LoadedModules(const LoadedModules&) = delete;
  LoadedModules& operator=(const LoadedModules&) = delete;

  /// The context must be current. Throws kDriverError naming kernel and reason.
  const LoadedKernel& load(const KernelImage& image);
  /// The same of the launch; throws kDriverError naming kernel and geometry.
  void launch(const LoadedKernel& kernel, const LaunchShape& shape, void** parameters,
              DriverStream stream) const;

  const std::deque<LoadedKernel>& kernels() const { return kernels_; }
  DriverContext context() const { return context_; }
  /// Whether the driver still knows them all: not after their context was reset.
  bool are_loaded() const noexcept;

 private:
  std::shared_ptr<const Driver> driver_;
  DriverContext context_;
  std::deque<LoadedKernel> kernels_;
};

}  // namespace heddle
