#pragma once

#include <optional>
#include <vector>

#include "generator/cost_model.hpp"

namespace heddle {

/// Every legal configuration of the families for this problem, in a fixed order.
std::vector<KernelConfig> enumerate_candidates(const Variant& variant, const DeviceLimits& limits);
std::vector<KernelConfig> enumerate_candidates(const Variant& variant, const DeviceLimits& limits,
                                               Family family);

struct RankedConfig {
  KernelConfig config;
  Prediction prediction;
};
/// Candidates that this problem's sizes do not rule out, cheapest predicted first; ties keep
/// enumeration order.
std::vector<RankedConfig> rank_candidates(const Problem& problem, const DeviceLimits& limits);
std::vector<RankedConfig> rank_candidates(const Problem& problem, const DeviceLimits& limits,
                                          Family family);

/// The config used when nothing better is known: legal on this device for this variant, no spills.
/// Pure and cheap. Throws kNoLegalConfig.
KernelConfig default_config(const Variant& variant, const SizeBucket& bucket,
                            const DeviceLimits& limits);
/// The same of one family: nothing where none is picked by hand or it is not legal.
std::optional<KernelConfig> default_config(Family family, const Variant& variant,
                                           const SizeBucket& bucket, const DeviceLimits& limits);

}  // namespace heddle
