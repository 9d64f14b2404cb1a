#pragma once
// The TMA's description of a tensor in global memory, shared by host and kernels.

namespace heddle {

/// Opaque: filled by the driver's cuTensorMapEncodeTiled. A kernel takes it as a part of its
/// `const __grid_constant__` parameters; a copy on the stack or in a register is of no use.
struct alignas(64) TensorMap {
  unsigned long long words[16];
};
static_assert(sizeof(TensorMap) == 128, "the size of CUtensorMap");

}  // namespace heddle
