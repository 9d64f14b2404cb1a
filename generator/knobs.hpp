#pragma once

#include <string_view>

#include "generator/kernel_config.hpp"
#include "generator/problem.hpp"

namespace heddle {

/// Whether a knob changes anything for this family and variant. One that does not must keep its
/// default, so that a kernel has exactly one canonical config.
bool knob_applies(std::string_view knob, Family family, const Variant& variant);

}  // namespace heddle
