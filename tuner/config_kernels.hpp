#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "generator/legality.hpp"
#include "runtime/compiler.hpp"
#include "runtime/device.hpp"
#include "runtime/loaded_config.hpp"

namespace heddle {

/// A config's kernels, compiled but on no device yet.
struct ConfigKernels {
  std::vector<std::shared_ptr<const CompiledKernel>> parts;
  std::string source_hash;  ///< of all parts together
  /// Set where the compiler's notes reject the config (serialised matrix pipeline, spills).
  std::optional<Rejection> rejection;
};

/// Throws kCompileFailed, kNvrtcMissing, or what emit() throws.
ConfigKernels compile_config(Compiler& compiler, const Variant& variant, const KernelConfig& config,
                             const DeviceLimits& limits);

std::unique_ptr<LoadedConfig> load_config(const Device& device, const Variant& variant,
                                          const KernelConfig& config, const ConfigKernels& kernels);

}  // namespace heddle
