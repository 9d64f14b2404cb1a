#include "generator/tensor_maps.hpp"

#include <algorithm>
#include <utility>

#include "templates/warpgroup_layout.cuh"

namespace heddle {
namespace {

constexpr int kRank = 4;

/// A stride along an axis of one entry is never multiplied: frameworks put anything there, and the
/// driver checks it all the same.
std::uint64_t stride_bytes(long long elements, int extent, std::uint64_t element,
                           std::uint64_t row_bytes) {
  return extent > 1 ? static_cast<std::uint64_t>(elements) * element : row_bytes;
}

TensorMapRequest request(const TensorView& view, const MapBoxes& boxes, int rows, int heads,
                         int batch, int box_rows) {
  TensorMapRequest map;
  map.type = boxes.dtype == DataType::kFp16 ? TensorMapType::kFloat16 : TensorMapType::kBFloat16;
  map.rank = kRank;
  map.address = view.data;
  const auto element = static_cast<std::uint64_t>(element_bytes(map.type));
  const std::uint64_t row_bytes = (boxes.head_dim * element + 15) / 16 * 16;
  // An axis of stride 0 is one long: kernels know (part/tma_producer.cuh, map_place).
  const int row_count = std::max(rows, 1);
  const int head_count = view.head_stride == 0 ? 1 : heads;
  const int batch_count = view.batch_stride == 0 ? 1 : batch;
  map.dims = {static_cast<std::uint64_t>(boxes.head_dim), static_cast<std::uint64_t>(row_count),
              static_cast<std::uint64_t>(head_count), static_cast<std::uint64_t>(batch_count)};
  map.strides = {stride_bytes(view.row_stride, row_count, element, row_bytes),
                 stride_bytes(view.head_stride, head_count, element, row_bytes),
                 stride_bytes(view.batch_stride, batch_count, element, row_bytes)};
  map.box = {kBoxColumns, static_cast<std::uint32_t>(box_rows), 1, 1};
  map.swizzle = Swizzle::k128;
  return map;
}

/// A box of whole queries of the heads that share a tile: its rows are those of a query's heads,
/// then of the next query's.
void pack_heads(TensorMapRequest& map, const MapBoxes& boxes) {
  if (boxes.packed_heads == 0) return;
  std::swap(map.dims[1], map.dims[2]);
  std::swap(map.strides[0], map.strides[1]);
  const int queries = boxes.query_rows / boxes.packed_heads;
  map.box = {kBoxColumns, static_cast<std::uint32_t>(boxes.packed_heads),
             static_cast<std::uint32_t>(queries), 1};
}

}  // namespace

int element_bytes(TensorMapType type) {
  switch (type) {
    case TensorMapType::kUint8:
      return 1;
    case TensorMapType::kFloat32:
      return 4;
    case TensorMapType::kUint16:
    case TensorMapType::kFloat16:
    case TensorMapType::kBFloat16:
      break;
  }
  return 2;
}

std::array<TensorMapRequest, 4> tensor_map_requests(const AttentionParameters& parameters,
                                                    const MapBoxes& boxes) {
  const AttentionParameters& p = parameters;
  std::array<TensorMapRequest, 4> maps = {
      request(p.query, boxes, p.seqlen_q, p.heads, p.batch, boxes.query_rows),
      request(p.key, boxes, p.seqlen_kv, p.kv_heads, p.batch, boxes.key_rows),
      request(p.value, boxes, p.seqlen_kv, p.kv_heads, p.batch, boxes.key_rows),
      request(p.output, boxes, p.seqlen_q, p.heads, p.batch, kWarpgroupRows)};
  pack_heads(maps[0], boxes);
  return maps;
}

}  // namespace heddle
