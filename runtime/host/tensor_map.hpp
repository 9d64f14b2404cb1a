#pragma once
// Tensor maps for kernels on the CPU: what cuTensorMapEncodeTiled takes and refuses.

#include <array>
#include <cstdint>

#include "templates/swizzle.cuh"
#include "templates/tensor_map.cuh"

namespace heddle {

/// Values are those of CUtensorMapDataType.
enum class TensorMapType { kUint8 = 0, kUint16 = 1, kFloat16 = 6, kFloat32 = 7, kBFloat16 = 9 };
int element_bytes(TensorMapType type);

/// The arguments of cuTensorMapEncodeTiled, innermost dimension first, whose elements follow each
/// other. No interleave; elements beyond the tensor read as zero.
struct TensorMapRequest {
  TensorMapType type = TensorMapType::kUint8;
  int rank = 0;
  void* address = nullptr;
  std::array<std::uint64_t, 5> dims{};
  std::array<std::uint64_t, 4> strides{};  ///< bytes; of dimensions 1 to rank - 1
  std::array<std::uint32_t, 5> box{};
  std::array<std::uint32_t, 5> element_strides{1, 1, 1, 1, 1};
  Swizzle swizzle = Swizzle::kNone;
};

namespace host {

/// Throws kInvalidArgument with the field's name for what the driver refuses, kUnsupported for
/// element strides other than 1.
TensorMap encode_tensor_map(const TensorMapRequest& request);

/// False where `map` was not made by encode_tensor_map.
bool decode_tensor_map(const TensorMap& map, TensorMapRequest& request);

}  // namespace host
}  // namespace heddle
