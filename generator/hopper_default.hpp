#pragma once

#include <optional>

#include "generator/architecture.hpp"
#include "generator/bucket.hpp"
#include "generator/kernel_config.hpp"
#include "generator/problem.hpp"

namespace heddle {

/// fa3's config of a problem that nobody has tuned, splits aside; nothing where none is legal.
std::optional<KernelConfig> hopper_default(const Variant& variant, const SizeBucket& bucket,
                                           const DeviceLimits& limits);

}  // namespace heddle
