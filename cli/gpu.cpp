#include "cli/gpu.hpp"

namespace heddle {

std::unique_ptr<Device> open_gpu(const ServiceFlags& services) {
  return std::make_unique<Device>(Driver::load(services.driver_path()), 0);
}

std::unique_ptr<Device> open_gpu_unless_target_given(const ServiceFlags& services,
                                                     const TargetFlags& target) {
  if (target.given()) return nullptr;
  return open_gpu(services);
}

DeviceClass class_of(const DeviceLimits& limits) {
  DeviceClass device;
  device.capability_major = limits.capability_major;
  device.capability_minor = limits.capability_minor;
  device.sm_count = limits.sm_count;
  device.shared_bytes_per_block = limits.shared_bytes_per_block;
  device.l2_bytes = limits.l2_bytes;
  device.name = limits.architecture;
  return device;
}

}  // namespace heddle
