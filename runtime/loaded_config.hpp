#pragma once

#include <memory>
#include <span>

#include "generator/launch_plan.hpp"
#include "runtime/loaded_modules.hpp"

namespace heddle {

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

  using Resources = KernelResources;
  /// 0 for a part that is not loaded.
  Resources resources(KernelPart part) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace heddle
