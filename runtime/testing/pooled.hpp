#pragma once

#include "generator/problem.hpp"

namespace heddle {

/// Outputs below which the contract's largest and RMS errors would be those of a few roundings: an
/// honest kernel then fails by bad luck.
inline constexpr int kFewestOutputs = 1024;

/// The problem with sequences enough for kFewestOutputs, as far as keys and values stay small. They
/// change neither the kernel nor its lengths. Problems with strides stay as they are.
Problem with_pooled_outputs(Problem problem);

}  // namespace heddle
