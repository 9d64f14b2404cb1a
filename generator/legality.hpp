#pragma once

#include <optional>

#include "generator/architecture.hpp"
#include "generator/kernel_config.hpp"
#include "generator/problem.hpp"

namespace heddle {

/// The one answer to "may this kernel run?": emitter, tuner, selection and database lookup all ask
/// here. Pure. The reason names the knob and the figure that is exceeded.
std::optional<Rejection> reject(const Variant& variant, const KernelConfig& config,
                                const DeviceLimits& limits);

}  // namespace heddle
