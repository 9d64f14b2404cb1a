#pragma once
// What the rules of legality.cpp and legality_fa3.cpp are made of.

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "generator/legality.hpp"

namespace heddle::legality {

using Result = std::optional<Rejection>;

constexpr int kAddressable = 255;  ///< registers of a thread

inline Result refuse(std::string field, std::string reason) {
  return Rejection{std::move(field), std::move(reason)};
}

/// The first rejection in the list, evaluated lazily.
template <class... Check>
Result first_of(Check&&... checks) {
  Result result;
  ((result = checks()) || ...);
  return result;
}

Result check_divides(std::string_view knob, int value, int unit, std::string_view why);

/// Of family fa3: who has which rows, what its switches need, and registers.
Result check_fa3(const Variant& variant, const KernelConfig& config);
Result check_fa3_registers(const Variant& variant, const KernelConfig& config);

/// TMA and wgmma: their instructions exist for sm_90a alone, and TMA wants whole 16 bytes.
Result check_hopper(const Variant& variant, const KernelConfig& config, const DeviceLimits& limits);

/// 8-bit inputs: what is built for them.
Result check_scaled_inputs(const Variant& variant, const KernelConfig& config);

}  // namespace heddle::legality
