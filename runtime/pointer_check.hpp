#pragma once

#include "generator/launch_plan.hpp"
#include "runtime/driver_api.hpp"

namespace heddle {

/// Null pointers that the problem needs, and addresses that no kernel could use. Plain arithmetic.
void require_pointers(const Problem& problem, const TensorPointers& pointers);

/// The largest alignment that all addresses and strides share. Throws kInvalidArgument naming the
/// tensor that is not even aligned to its elements.
int require_alignment(const Problem& problem, const TensorPointers& pointers);

/// Asks the driver where each tensor lives: a host pointer, or memory of another device than that
/// of the current context, is refused. A few driver calls: for the first launch of a kernel.
void require_device_memory(const Driver::Api& api, const TensorPointers& pointers, int device);

}  // namespace heddle
