#include "tuner/config_kernels.hpp"

namespace heddle {

ConfigKernels compile_config(Compiler& compiler, const Variant& variant, const KernelConfig& config,
                             const DeviceLimits& limits) {
  ConfigKernels kernels;
  std::string hashes;
  for (const KernelPart part : kernel_parts(config)) {
    const KernelSource source = emit(variant, config, part, limits);
    hashes += source_hash(source).hex();
    kernels.parts.push_back(compiler.compile(source));
    if (!kernels.rejection) kernels.rejection = reject_notes(kernels.parts.back()->notes);
  }
  kernels.source_hash = hash_text(hashes).hex();
  return kernels;
}

std::unique_ptr<LoadedConfig> load_config(const Device& device, const Variant& variant,
                                          const KernelConfig& config,
                                          const ConfigKernels& kernels) {
  std::vector<KernelImage> images;
  for (const auto& kernel : kernels.parts) {
    images.push_back({kernel->part, kernel->entry, kernel->cubin,
                      part_footprint(variant, config, kernel->part).shared_bytes,
                      device.limits().architecture, "NVRTC",
                      config.scheduler == TileScheduler::kDynamic});
  }
  return std::make_unique<LoadedConfig>(device.driver_pointer(), device.context(), images);
}

}  // namespace heddle
