#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "generator/launch_plan.hpp"
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

/// A config's kernels in one context, ready to launch: loaded eagerly (a first launch never loads,
/// so it may be captured) and opted in to the shared memory they need. Immutable afterwards; any
/// number of threads may launch.
class LoadedConfig {
 public:
  /// Works in `context` and restores the caller's. Throws kDriverError naming kernel and reason.
  LoadedConfig(std::shared_ptr<const Driver> driver, DriverContext context,
               std::span<const KernelImage> images);
  /// Unloads. No launch may be in flight.
  ~LoadedConfig();
  LoadedConfig(const LoadedConfig&) = delete;
  LoadedConfig& operator=(const LoadedConfig&) = delete;

  /// Launches the plan's parts in order; context() must be current. An empty plan launches nothing.
  /// Throws kDriverError with the driver's error name, kernel and geometry; parts after the failed
  /// one are not launched.
  void launch(const LaunchPlan& plan, const AttentionParameters& parameters,
              DriverStream stream) const;

  DriverContext context() const;
  /// Whether the driver still knows the kernels: not after their context was reset. For the way out
  /// of a refused launch.
  bool is_loaded() const noexcept;

  /// As the driver reports them after loading; 0 for a part that is not loaded.
  struct Resources {
    int registers = 0;
    int local_bytes = 0;  ///< per thread: stack and spills
  };
  Resources resources(KernelPart part) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace heddle
