// Boxes by TMA: ranks, swizzles, boxes that overhang.
#include <algorithm>

#include <fmt/format.h>

#include "tests/gpu/twin_case.hpp"

namespace heddle {
namespace {

constexpr std::size_t kMostBytes = 8192;

struct Shape {
  int rank;
  TensorMapType type;
  std::array<std::uint64_t, 5> dims;
  std::array<std::uint32_t, 5> box;
  std::array<int, 5> at;
  Swizzle swizzle;
};

const Shape kShapes[] = {
    {2, TensorMapType::kBFloat16, {64, 40}, {64, 32}, {0, 4}, Swizzle::k128},
    {2, TensorMapType::kBFloat16, {64, 40}, {64, 32}, {0, 20}, Swizzle::k128},
    {2, TensorMapType::kFloat16, {64, 40}, {32, 32}, {0, 0}, Swizzle::k64},
    {2, TensorMapType::kFloat16, {72, 40}, {32, 32}, {16, 4}, Swizzle::k64},
    {2, TensorMapType::kFloat16, {72, 40}, {32, 24}, {16, 4}, Swizzle::k64},
    {2, TensorMapType::kFloat16, {72, 40}, {32, 24}, {-8, -3}, Swizzle::k64},
    {2, TensorMapType::kFloat16, {72, 40}, {32, 24}, {-5, -3}, Swizzle::k64},
    {2, TensorMapType::kFloat32, {20, 16}, {16, 8}, {1, 2}, Swizzle::kNone},
    {2, TensorMapType::kFloat32, {20, 16}, {16, 8}, {0, -1}, Swizzle::kNone},
    {2, TensorMapType::kFloat32, {20, 16}, {16, 16}, {4, -8}, Swizzle::kNone},
    {2, TensorMapType::kBFloat16, {72, 40}, {40, 16}, {48, 30}, Swizzle::kNone},
    {2, TensorMapType::kUint8, {96, 40}, {32, 64}, {80, 1}, Swizzle::k32},
    {2, TensorMapType::kBFloat16, {72, 40}, {40, 16}, {50, 30}, Swizzle::kNone},
    {2, TensorMapType::kFloat32, {20, 16}, {16, 16}, {7, -8}, Swizzle::kNone},
    {3, TensorMapType::kBFloat16, {64, 20, 3}, {64, 32, 1}, {0, 7, 1}, Swizzle::k128},
    {3, TensorMapType::kBFloat16, {64, 6, 5}, {32, 4, 3}, {40, 3, 3}, Swizzle::k64},
    {3, TensorMapType::kUint8, {128, 6, 5}, {128, 8, 4}, {0, 0, -1}, Swizzle::k128},
    {4, TensorMapType::kBFloat16, {32, 5, 4, 3}, {32, 4, 2, 2}, {0, 3, 3, 2}, Swizzle::k64},
    {4, TensorMapType::kUint8, {64, 8, 6, 2}, {32, 8, 6, 1}, {16, 2, 1, 1}, Swizzle::k32},
    {5,
     TensorMapType::kFloat16,
     {16, 4, 3, 3, 2},
     {16, 3, 2, 2, 2},
     {0, 2, 2, -1, 1},
     Swizzle::kNone},
    {5,
     TensorMapType::kBFloat16,
     {64, 3, 2, 2, 2},
     {64, 2, 2, 2, 2},
     {0, 0, 1, 0, 0},
     Swizzle::k128},
};

std::size_t box_bytes(const Shape& shape) {
  std::size_t bytes = static_cast<std::size_t>(element_bytes(shape.type));
  for (int i = 0; i < shape.rank; ++i) bytes *= shape.box[static_cast<std::size_t>(i)];
  return bytes;
}

/// Rows of the tensor are 16 bytes longer than they need be.
TensorMapRequest map_of(const Shape& shape) {
  TensorMapRequest map;
  map.type = shape.type;
  map.rank = shape.rank;
  map.dims = shape.dims;
  map.box = shape.box;
  map.swizzle = shape.swizzle;
  std::uint64_t bytes = shape.dims[0] * static_cast<std::uint64_t>(element_bytes(shape.type));
  bytes = (bytes + 15) / 16 * 16 + 16;
  for (int i = 0; i + 1 < shape.rank; ++i) {
    map.strides[static_cast<std::size_t>(i)] = bytes;
    bytes *= shape.dims[static_cast<std::size_t>(i) + 1];
  }
  return map;
}
std::size_t tensor_bytes(const Shape& shape) {
  const auto last = static_cast<std::size_t>(shape.rank - 1);
  return map_of(shape).strides[last - 1] * shape.dims[last];
}

/// Calls `visit(byte of the tile, byte of the tensor or -1)` for each byte of the box, by the plain
/// definition: the tile is the box, innermost dimension first, each 16-byte chunk moved by the
/// swizzle's rule on the byte's place (the tile begins where the pattern does).
template <class Visit>
void for_each_byte(const Shape& shape, Visit visit) {
  const TensorMapRequest map = map_of(shape);
  const auto element = static_cast<long long>(element_bytes(shape.type));
  const std::size_t total = box_bytes(shape);
  for (std::size_t byte = 0; byte < total; ++byte) {
    std::size_t rest = byte / static_cast<std::size_t>(element);
    long long source = 0;
    bool inside = true;
    for (std::size_t i = 0; i < static_cast<std::size_t>(shape.rank); ++i) {
      const auto place = static_cast<long long>(rest % shape.box[i]) + shape.at[i];
      rest /= shape.box[i];
      inside = inside && place >= 0 && place < static_cast<long long>(shape.dims[i]);
      source += place * (i == 0 ? element : static_cast<long long>(map.strides[i - 1]));
    }
    source += static_cast<long long>(byte) % element;
    visit(static_cast<std::size_t>(swizzled(static_cast<int>(byte), shape.swizzle)),
          inside ? source : -1);
  }
}

/// What an H200 takes for an illegal instruction: a box that does not begin at a multiple of 16
/// bytes, and a store that begins before the tensor.
bool is_refused(const Shape& shape, bool store) {
  const bool before = std::any_of(shape.at.begin(), shape.at.end(), [](int at) { return at < 0; });
  return shape.at[0] * element_bytes(shape.type) % 16 != 0 || (store && before);
}

TwinCase make(const Shape& shape, bool store) {
  TwinCase twin;
  twin.entry = fmt::format("{}{}", store ? "store" : "load", shape.rank);
  twin.name = fmt::format("{} {} bytes swizzle {} at {},{}", twin.entry, box_bytes(shape),
                          swizzle_span(shape.swizzle), shape.at[0], shape.at[1]);
  twin.file = "tensor.cu";
  twin.shared_bytes = kMostBytes + 64;
  twin.number = static_cast<int>(box_bytes(shape));
  twin.tensor = TwinTensor{map_of(shape), shape.at, store};
  twin.refused = is_refused(shape, store);
  return twin;
}

}  // namespace

void add_tensor_cases(std::vector<TwinCase>& cases) {
  for (const Shape& shape : kShapes) {
    TwinCase load = make(shape, false);
    load.input = random_bytes(tensor_bytes(shape), 41);
    load.output_bytes = box_bytes(shape);
    load.expect = [shape](const Bytes& input) {
      Bytes out(box_bytes(shape));
      for_each_byte(shape, [&](std::size_t tile, long long source) {
        out[tile] = source < 0 ? 0 : input[static_cast<std::size_t>(source)];
      });
      return out;
    };
    cases.push_back(load);
    TwinCase store = make(shape, true);
    store.input = random_bytes(box_bytes(shape), 43);
    store.output_bytes = tensor_bytes(shape);
    store.expect = [shape](const Bytes& input) {
      Bytes out(tensor_bytes(shape));
      for_each_byte(shape, [&](std::size_t tile, long long target) {
        if (target >= 0) out[static_cast<std::size_t>(target)] = input[tile];
      });
      return out;
    };
    cases.push_back(store);
  }
}

}  // namespace heddle
