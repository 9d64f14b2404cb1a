#pragma once

#include <string>

#include "cli/flags.hpp"
#include "cli/services.hpp"
#include "runtime/selection.hpp"

namespace heddle {

struct SelectionPlace {
  DeviceLimits limits;
  DeviceClass device;
  bool assumed = false;  ///< there is no GPU, and none was named
};

/// The architecture asked for, else the GPU here, else sm_90a. Not for verbs that need a GPU.
SelectionPlace place_of(const TargetFlags& target, const ServiceFlags& services);

/// Why a problem gets this config, for people.
std::string why_chosen(const Choice& choice);

/// What winners from so far away have cost where that was measured.
std::optional<TransferRegret> regret_of(const ServiceFlags& services, const Problem& problem,
                                        const SelectionPlace& place, const Choice& choice);

/// The config the user forced by --family and --set, else what the library would select.
Choice choose_config(const KernelFlags& kernel, const ServiceFlags& services,
                     const Problem& problem, const SelectionPlace& place);

}  // namespace heddle
