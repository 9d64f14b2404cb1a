#pragma once

#include "cli/flags.hpp"
#include "cli/services.hpp"
#include "runtime/selection.hpp"

namespace heddle {

struct SelectionPlace {
  DeviceLimits limits;
  DeviceClass device;
};

/// The config the user forced by --family and --set, else what the library would select.
Choice choose_config(const KernelFlags& kernel, const ServiceFlags& services,
                     const Problem& problem, const SelectionPlace& place);

}  // namespace heddle
