#pragma once

#include <array>
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

/// Whose configs are picked by hand: the first that has a legal one gives the default.
inline constexpr std::array kDefaultFamilies{Family::kFa3, Family::kFa2};
/// The config used when nothing better is known: legal on this device for this variant, no spills.
/// Pure and cheap. Throws kNoLegalConfig.
KernelConfig default_config(const Variant& variant, const SizeBucket& bucket,
                            const DeviceLimits& limits);
/// The same of one family: nothing where none is picked by hand or it is not legal.
std::optional<KernelConfig> default_config(Family family, const Variant& variant,
                                           const SizeBucket& bucket, const DeviceLimits& limits);
/// A config of fa2 or fa3 with its keys split, and without what does not go with splits.
KernelConfig with_split_keys(KernelConfig config);

}  // namespace heddle
