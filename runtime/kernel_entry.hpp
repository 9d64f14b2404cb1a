#pragma once

#include <atomic>
#include <memory>

#include "runtime/kernel_provider.hpp"
#include "runtime/kernel_table.hpp"

namespace heddle {

/// What serves one key. Immutable but for the two flags, which only ever turn true.
struct KernelEntry {
  KernelKey key;
  Variant variant;
  int device = 0;
  const DeviceLimits* limits = nullptr;  ///< of that device; owned by the KernelProvider
  ProvidedKernels provided;
  /// Pointers are looked at once per entry, by its first launch: where they live costs driver
  /// calls.
  mutable std::atomic<bool> pointers_checked{false};
  /// The driver no longer knows the kernels (their context was reset): choose and load again.
  mutable std::atomic<bool> stale{false};
};

}  // namespace heddle
