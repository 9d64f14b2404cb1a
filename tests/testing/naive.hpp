#pragma once
// Attention as a double loop over queries and keys, in long double, with nothing shared with the
// engine under test but the conversion of single elements.

#include "runtime/testing/reference.hpp"

namespace heddle {

AttentionResult naive_attention(const Problem& problem, const HostTensors& tensors);

/// Equal as numbers, NaN equal to NaN, within a relative error beyond 1.
bool close(double actual, double expected, double tolerance);

}  // namespace heddle
