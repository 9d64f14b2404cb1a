#include "generator/tensor_maps.hpp"

#include <algorithm>
#include <utility>

#include "templates/warpgroup_layout.cuh"

namespace heddle {
namespace {

constexpr int kRank = 4;

/// What a map is asked for.
struct MapTensor {
  const TensorView& view;
  TensorMapType type;
  int columns;
  int rows;
  int heads;
  int batch;
  int box_columns;
  int box_rows;
};

TensorMapType map_type(DataType dtype) {
  if (dtype == DataType::kE4m3) return TensorMapType::kUint8;
  return dtype == DataType::kFp16 ? TensorMapType::kFloat16 : TensorMapType::kBFloat16;
}

/// A stride along an axis of one entry is never multiplied: frameworks put anything there, and the
/// driver checks it all the same.
std::uint64_t stride_bytes(long long elements, int extent, std::uint64_t element,
                           std::uint64_t row_bytes) {
  return extent > 1 ? static_cast<std::uint64_t>(elements) * element : row_bytes;
}

TensorMapRequest request(const MapTensor& tensor) {
  const TensorView& view = tensor.view;
  TensorMapRequest map;
  map.type = tensor.type;
  map.rank = kRank;
  map.address = view.data;
  const auto element = static_cast<std::uint64_t>(element_bytes(map.type));
  const auto columns = static_cast<std::uint64_t>(std::max(tensor.columns, 1));
  const std::uint64_t row_bytes = (columns * element + 15) / 16 * 16;
  // An axis of stride 0 is one long: kernels know (part/tma_producer.cuh, map_place).
  const int row_count = std::max(tensor.rows, 1);
  const int head_count = view.head_stride == 0 ? 1 : tensor.heads;
  const int batch_count = view.batch_stride == 0 ? 1 : tensor.batch;
  map.dims = {columns, static_cast<std::uint64_t>(row_count),
              static_cast<std::uint64_t>(head_count), static_cast<std::uint64_t>(batch_count)};
  map.strides = {stride_bytes(view.row_stride, row_count, element, row_bytes),
                 stride_bytes(view.head_stride, head_count, element, row_bytes),
                 stride_bytes(view.batch_stride, batch_count, element, row_bytes)};
  map.box = {static_cast<std::uint32_t>(tensor.box_columns),
             static_cast<std::uint32_t>(tensor.box_rows), 1, 1};
  map.swizzle = swizzle_of_span(tensor.box_columns * static_cast<int>(element));
  return map;
}

/// A box of whole queries of the heads that share a tile: its rows are those of a query's heads,
/// then of the next query's.
void pack_heads(TensorMapRequest& map, const MapBoxes& boxes) {
  if (boxes.packed_heads == 0) return;
  std::swap(map.dims[1], map.dims[2]);
  std::swap(map.strides[0], map.strides[1]);
  const int queries = boxes.query_rows / boxes.packed_heads;
  map.box[1] = static_cast<std::uint32_t>(boxes.packed_heads);
  map.box[2] = static_cast<std::uint32_t>(queries);
}

/// V as it lies in memory.
MapTensor value_tensor(const AttentionParameters& p, const MapBoxes& boxes, int box_columns) {
  const TensorMapType type = map_type(boxes.dtype);
  if (boxes.value_layout == ValueLayout::kTransposed) {
    const int keys = (std::max(p.seqlen_kv, 1) + kKeyGroup - 1) / kKeyGroup * kKeyGroup;
    return {p.value,
            type,
            keys,
            boxes.head_dim,
            p.kv_heads,
            p.batch,
            byte_box_columns(boxes.key_rows),
            boxes.head_dim};
  }
  return {p.value,    type,    boxes.head_dim, p.seqlen_kv,
          p.kv_heads, p.batch, box_columns,    boxes.key_rows};
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
  const bool is_wide = boxes.dtype != DataType::kE4m3;
  const TensorMapType type = map_type(boxes.dtype);
  const int columns = is_wide ? kBoxColumns : byte_box_columns(boxes.head_dim);
  std::array<TensorMapRequest, 4> maps = {
      request(
          {p.query, type, boxes.head_dim, p.seqlen_q, p.heads, p.batch, columns, boxes.query_rows}),
      request(
          {p.key, type, boxes.head_dim, p.seqlen_kv, p.kv_heads, p.batch, columns, boxes.key_rows}),
      request(value_tensor(p, boxes, columns)),
      // Kernels with 8-bit inputs store O from registers.
      request({p.output, is_wide ? type : TensorMapType::kBFloat16, boxes.head_dim, p.seqlen_q,
               p.heads, p.batch, kBoxColumns, kWarpgroupRows})};
  pack_heads(maps[0], boxes);
  return maps;
}

}  // namespace heddle
