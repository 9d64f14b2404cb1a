// encode_tensor_map() refuses what the driver's encoder refuses, and names the field.
#include <catch2/catch.hpp>
#include <functional>

#include "generator/error.hpp"
#include "runtime/host/tensor_copy.hpp"
#include "runtime/host/tensor_map.hpp"

namespace heddle {
namespace {

TensorMapRequest good() {
  TensorMapRequest request;
  request.type = TensorMapType::kBFloat16;
  request.rank = 3;
  request.address = reinterpret_cast<void*>(0x1000);
  request.dims = {64, 100, 7};
  request.strides = {128, 12800};
  request.box = {64, 32, 1};
  request.swizzle = Swizzle::k128;
  return request;
}

std::string refused_field(const std::function<void(TensorMapRequest&)>& change) {
  TensorMapRequest request = good();
  change(request);
  try {
    host::encode_tensor_map(request);
  } catch (const Error& error) {
    return error.field();
  }
  return "";
}

TEST_CASE("What the driver refuses is refused, by field") {
  using Request = TensorMapRequest;
  CHECK(refused_field([](Request&) {}).empty());
  CHECK(refused_field([](Request& r) { r.rank = 1; }) == "rank");
  CHECK(refused_field([](Request& r) { r.rank = 6; }) == "rank");
  CHECK(refused_field([](Request& r) { r.address = reinterpret_cast<void*>(0x1008); }) ==
        "address");
  CHECK(refused_field([](Request& r) { r.address = nullptr; }) == "address");
  CHECK(refused_field([](Request& r) { r.dims[1] = 0; }) == "dims");
  CHECK(refused_field([](Request& r) { r.dims[2] = (1ull << 32) + 1; }) == "dims");
  CHECK(refused_field([](Request& r) { r.dims[2] = 1ull << 32; }).empty());
  CHECK(refused_field([](Request& r) { r.strides[1] = 12808; }) == "strides");
  CHECK(refused_field([](Request& r) { r.strides[1] = 1ull << 40; }) == "strides");
  CHECK(refused_field([](Request& r) { r.strides[1] = (1ull << 40) - 16; }).empty());
  CHECK(refused_field([](Request& r) { r.strides[0] = 112; }) == "strides");
  CHECK(refused_field([](Request& r) { r.box[1] = 257; }) == "box");
  CHECK(refused_field([](Request& r) { r.box[1] = 256; }).empty());
  CHECK(refused_field([](Request& r) { r.box[2] = 0; }) == "box");
  CHECK(refused_field([](Request& r) { r.box[0] = 20; }) == "box");
  CHECK(refused_field([](Request& r) { r.swizzle = Swizzle::k64; }) == "swizzle");
  CHECK(refused_field([](Request& r) { r.element_strides[1] = 2; }) == "element_strides");
}

TEST_CASE("A map says what went into it, and nothing else is a map") {
  const TensorMapRequest request = good();
  TensorMapRequest read;
  REQUIRE(host::decode_tensor_map(host::encode_tensor_map(request), read));
  CHECK(read.rank == 3);
  CHECK(read.address == request.address);
  CHECK(read.dims == request.dims);
  CHECK(read.strides == request.strides);
  CHECK(read.box == request.box);
  CHECK(read.swizzle == Swizzle::k128);
  CHECK(read.type == TensorMapType::kBFloat16);
  CHECK_FALSE(host::decode_tensor_map(TensorMap{}, read));
}

TEST_CASE("The swizzle goes by the address in shared memory, not by the place in the tile") {
  TensorMapRequest request = good();
  const int at[5] = {0, 0, 0};
  const auto aligned = box_pieces(request, at, 0x400);
  const auto shifted = box_pieces(request, at, 0x480);  // one row further
  CHECK(aligned[0].shared == 0x400);
  CHECK(shifted[0].shared == 0x480 + 16);
}

}  // namespace
}  // namespace heddle
