#pragma once

#include <memory>

#include "cli/flags.hpp"
#include "cli/services.hpp"
#include "runtime/device.hpp"

namespace heddle {

/// The first GPU ($CUDA_VISIBLE_DEVICES chooses which that is). Throws kDriverMissing or
/// kDeviceMissing with what to install.
std::unique_ptr<Device> open_gpu(const ServiceFlags& services);

/// The GPU, or null where --arch was given or none can be had.
std::unique_ptr<Device> open_gpu_unless_target_given(const ServiceFlags& services,
                                                     const TargetFlags& target);

/// The device class of an architecture row, for predictions made without a GPU.
DeviceClass class_of(const DeviceLimits& limits);

}  // namespace heddle
