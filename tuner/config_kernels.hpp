#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "generator/legality.hpp"
#include "runtime/compiler.hpp"
#include "runtime/device.hpp"
#include "runtime/loaded_config.hpp"
#include "tuner/bad_candidate.hpp"

namespace heddle {

/// A config's kernels, compiled but on no device yet.
struct ConfigKernels {
  std::vector<std::shared_ptr<const CompiledKernel>> parts;
  std::string source_hash;  ///< of all parts together
  /// Set where the compiler's notes reject the config (serialised matrix pipeline, spills).
  std::optional<Rejection> rejection;
  int extra_shared_bytes = 0;  ///< asked for beyond what the config needs; only by bad candidates
};

/// The texts of a config's parts, spoilt where a kind is given. Throws what emit() throws.
std::vector<KernelSource> emit_parts(const Variant& variant, const KernelConfig& config,
                                     const DeviceLimits& limits,
                                     std::optional<BadKind> bad = std::nullopt);
/// Of all parts together.
std::string hash_of(const std::vector<KernelSource>& sources);

/// Throws kCompileFailed, kNvrtcMissing, or what emit() throws.
ConfigKernels compile_config(Compiler& compiler, const Variant& variant, const KernelConfig& config,
                             const DeviceLimits& limits, std::optional<BadKind> bad = std::nullopt);

std::unique_ptr<LoadedConfig> load_config(const Device& device, const Variant& variant,
                                          const KernelConfig& config, const ConfigKernels& kernels);

}  // namespace heddle
