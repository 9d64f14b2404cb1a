#pragma once
// The argument of kernels that load by TMA, shared with the host.

#include "parameters.cuh"
#include "tensor_map.cuh"

namespace heddle {

/// Maps have four dimensions: head dim (innermost), row, head, batch; that of the queries of a
/// kernel that packs heads has the head before the row. Boxes are 64 columns of a tile
/// (generator/tensor_maps.hpp).
struct MappedParameters {
  TensorMap query;
  TensorMap key;
  TensorMap value;
  TensorMap output;  ///< boxes of a warpgroup's rows; only where kernels store by TMA
  AttentionParameters attention;
};

}  // namespace heddle
