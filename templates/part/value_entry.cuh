#pragma once
// An entry of V in global memory, however V lies there.

#include "part/sequence_info.cuh"
#include "wgmma_fragment.cuh"

namespace heddle {

/// Without its factor, where inputs have some.
template <class Config>
inline float value_entry(const AttentionParameters& parameters, int batch, int kv_head, int key,
                         int column) {
  using Element = typename Config::Element;
  const int row = Config::kTransposedValues ? column : key;
  const int at = Config::kTransposedValues ? wgmma_8bit_position(key) : column;
  // part/sanitize.cuh says why a copy
  const Element element = tensor_row<const Element>(parameters.value, batch, kv_head, row)[at];
  return to_float(element);
}

}  // namespace heddle
