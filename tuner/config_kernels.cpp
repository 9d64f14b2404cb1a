#include "tuner/config_kernels.hpp"

namespace heddle {

std::vector<KernelSource> emit_parts(const Variant& variant, const KernelConfig& config,
                                     const DeviceLimits& limits, std::optional<BadKind> bad) {
  std::vector<KernelSource> sources;
  for (const KernelPart part : kernel_parts(config)) {
    sources.push_back(emit(variant, config, part, limits));
    if (bad) spoil(sources.back(), *bad);
  }
  return sources;
}

std::string hash_of(const std::vector<KernelSource>& sources) {
  std::string hashes;
  for (const KernelSource& source : sources) hashes += source_hash(source).hex();
  return hash_text(hashes).hex();
}

ConfigKernels compile_config(Compiler& compiler, const Variant& variant, const KernelConfig& config,
                             const DeviceLimits& limits, std::optional<BadKind> bad) {
  ConfigKernels kernels;
  const auto sources = emit_parts(variant, config, limits, bad);
  kernels.source_hash = hash_of(sources);
  if (bad == BadKind::kTooMuchShared) kernels.extra_shared_bytes = kTooMuchSharedBytes;
  for (const KernelSource& source : sources) {
    kernels.parts.push_back(compiler.compile(source));
    if (!kernels.rejection) kernels.rejection = reject_notes(kernels.parts.back()->notes);
  }
  return kernels;
}

std::unique_ptr<LoadedConfig> load_config(const Device& device, const Variant& variant,
                                          const KernelConfig& config,
                                          const ConfigKernels& kernels) {
  std::vector<KernelImage> images;
  for (const auto& kernel : kernels.parts) {
    images.push_back(
        {kernel->part, kernel->entry, kernel->cubin,
         part_footprint(variant, config, kernel->part).shared_bytes + kernels.extra_shared_bytes,
         device.limits().architecture, "NVRTC", config.scheduler == TileScheduler::kDynamic});
  }
  return std::make_unique<LoadedConfig>(device.driver_pointer(), device.context(), images);
}

}  // namespace heddle
