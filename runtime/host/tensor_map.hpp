#pragma once
// Tensor maps for kernels on the CPU: what cuTensorMapEncodeTiled takes and refuses.

#include "generator/tensor_maps.hpp"
#include "templates/tensor_map.cuh"

namespace heddle {

namespace host {

/// Throws kInvalidArgument with the field's name for what the driver refuses, kUnsupported for
/// element strides other than 1.
TensorMap encode_tensor_map(const TensorMapRequest& request);

/// False where `map` was not made by encode_tensor_map.
bool decode_tensor_map(const TensorMap& map, TensorMapRequest& request);

}  // namespace host
}  // namespace heddle
