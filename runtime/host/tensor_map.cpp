#include "runtime/host/tensor_map.hpp"

#include <string>

#include <fmt/format.h>

#include "generator/error.hpp"

namespace heddle {
namespace {

// Our own encoding: word 0 says what the rest is.
constexpr unsigned long long kMagic = 0x68656464ull << 32;
constexpr int kAddress = 1, kDims = 2, kStrides = 7, kBoxes = 11, kBoxesMore = 12;
constexpr int kBoxBits = 16;

constexpr std::uint64_t kMostElements = 1ull << 32;
constexpr std::uint64_t kStrideEnd = 1ull << 40;
constexpr std::uint32_t kMostBox = 256;

[[noreturn]] void refuse(const char* field, std::string text) {
  throw Error(ErrorCode::kInvalidArgument, field, "tensor map: " + std::move(text));
}

void require_strides(const TensorMapRequest& request) {
  std::uint64_t inner = request.dims[0] * static_cast<std::uint64_t>(element_bytes(request.type));
  for (int i = 0; i + 1 < request.rank; ++i) {
    const std::uint64_t stride = request.strides[static_cast<std::size_t>(i)];
    if (stride % 16 != 0 || stride >= kStrideEnd) {
      refuse("strides", fmt::format("stride {} of dimension {}: it must be a multiple of 16 below "
                                    "2^40",
                                    stride, i + 1));
    }
    if (i == 0 && stride < inner) {
      refuse("strides",
             fmt::format("stride {} of dimension 1 is less than a row's {} bytes", stride, inner));
    }
  }
}

void require_box(const TensorMapRequest& request) {
  for (int i = 0; i < request.rank; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (request.dims[at] == 0 || request.dims[at] > kMostElements) {
      refuse("dims", fmt::format("dimension {} has {} elements: 1 to 2^32 are possible", i,
                                 request.dims[at]));
    }
    if (request.box[at] == 0 || request.box[at] > kMostBox) {
      refuse("box", fmt::format("the box has {} elements in dimension {}: 1 to {} are possible",
                                request.box[at], i, kMostBox));
    }
    if (request.element_strides[at] != 1) {
      throw Error(ErrorCode::kUnsupported, "element_strides",
                  "tensor map: element strides other than 1 are unsupported");
    }
  }
  const int inner = static_cast<int>(request.box[0]) * element_bytes(request.type);
  if (inner % 16 != 0) {
    refuse("box", fmt::format("the box's rows have {} bytes: a multiple of 16 is needed", inner));
  }
  if (request.swizzle != Swizzle::kNone && inner > swizzle_span(request.swizzle)) {
    refuse("swizzle", fmt::format("the box's rows have {} bytes, the swizzle spans {}", inner,
                                  swizzle_span(request.swizzle)));
  }
}

}  // namespace

TensorMap host::encode_tensor_map(const TensorMapRequest& request) {
  if (request.rank < 2 || request.rank > 5) {
    refuse("rank", fmt::format("rank {}: 2 to 5 are possible", request.rank));
  }
  const auto address = reinterpret_cast<std::uintptr_t>(request.address);
  if (address == 0 || address % 16 != 0) {
    refuse("address", fmt::format("address {} is not a multiple of 16", request.address));
  }
  require_box(request);
  require_strides(request);
  TensorMap map{};
  map.words[0] = kMagic | static_cast<unsigned>(request.type) << 16 |
                 static_cast<unsigned>(request.rank) << 8 | static_cast<unsigned>(request.swizzle);
  map.words[kAddress] = address;
  for (std::size_t i = 0; i < 5; ++i) {
    map.words[kDims + i] = request.dims[i];
    const auto box = static_cast<unsigned long long>(request.box[i]);
    map.words[i < 4 ? kBoxes : kBoxesMore] |= box << (i % 4 * kBoxBits);
  }
  for (std::size_t i = 0; i < 4; ++i) map.words[kStrides + i] = request.strides[i];
  return map;
}

bool host::decode_tensor_map(const TensorMap& map, TensorMapRequest& request) {
  if (map.words[0] >> 32 != kMagic >> 32) return false;
  request.type = static_cast<TensorMapType>(map.words[0] >> 16 & 0xffu);
  request.rank = static_cast<int>(map.words[0] >> 8 & 0xffu);
  request.swizzle = static_cast<Swizzle>(map.words[0] & 0xffu);
  request.address = reinterpret_cast<void*>(map.words[kAddress]);
  for (std::size_t i = 0; i < 5; ++i) {
    request.dims[i] = map.words[kDims + i];
    request.box[i] = static_cast<std::uint32_t>(
        map.words[i < 4 ? kBoxes : kBoxesMore] >> (i % 4 * kBoxBits) & 0xffffu);
  }
  for (std::size_t i = 0; i < 4; ++i) request.strides[i] = map.words[kStrides + i];
  return true;
}

}  // namespace heddle
