#pragma once
// How the tensors of a launch are described to the TMA: pure arithmetic; the driver encodes it.

#include <array>
#include <cstdint>

#include "generator/launch_plan.hpp"
#include "templates/swizzle.cuh"

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

/// Of Q, K, V and O.
std::array<TensorMapRequest, 4> tensor_map_requests(const AttentionParameters& parameters,
                                                    const MapBoxes& boxes);

}  // namespace heddle
