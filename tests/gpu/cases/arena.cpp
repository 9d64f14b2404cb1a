#include "tests/gpu/cases/arena.hpp"

#include <algorithm>

namespace heddle {
namespace {

constexpr std::size_t kAlignment = 256;    // as allocations have it
constexpr std::size_t kGuardBytes = 1024;  // two rows of head_dim 256
constexpr unsigned char kPoison = 0xff;    // a NaN in every element type

}  // namespace

std::size_t Arena::reserve(std::size_t bytes) {
  const std::size_t place =
      (image_.size() + kGuardBytes + kAlignment - 1) / kAlignment * kAlignment;
  // The guard behind the last tensor comes with it.
  image_.resize(place + bytes + kGuardBytes, kPoison);
  return place;
}

std::size_t Arena::add_input(const std::vector<std::uint16_t>& elements) {
  const std::size_t bytes = elements.size() * sizeof(std::uint16_t);
  const std::size_t place = reserve(bytes);
  std::memcpy(image_.data() + place, elements.data(), bytes);
  return place;
}

std::size_t Arena::add_output(std::size_t bytes) {
  const std::size_t place = reserve(bytes);
  outputs_.push_back({place, place + bytes});
  return place;
}

void Arena::upload(DeviceBuffer& buffer) const {
  buffer.upload(image_.data(), image_.size());
}

std::vector<unsigned char> Arena::download(const DeviceBuffer& buffer) const {
  std::vector<unsigned char> bytes(image_.size());
  buffer.download(bytes.data(), bytes.size());
  return bytes;
}

bool Arena::has_stray_writes(const std::vector<unsigned char>& downloaded) const {
  std::size_t begin = 0;
  const auto same_until = [&](std::size_t end) {
    return std::memcmp(downloaded.data() + begin, image_.data() + begin, end - begin) == 0;
  };
  for (const Range& output : outputs_) {
    if (!same_until(output.begin)) return true;
    begin = output.end;
  }
  return !same_until(image_.size());
}

}  // namespace heddle
