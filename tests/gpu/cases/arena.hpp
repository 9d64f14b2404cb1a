#pragma once
// Many problems' tensors in one allocation, poison on both sides of each: one copy to the device,
// one back.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "runtime/device.hpp"

namespace heddle {

class Arena {
 public:
  /// A tensor that kernels read. Returns its place.
  std::size_t add_input(const std::vector<std::uint16_t>& elements);
  /// One that they write; poison at first.
  std::size_t add_output(std::size_t bytes);

  /// Everything as it was added.
  void upload(DeviceBuffer& buffer) const;
  std::size_t bytes() const { return image_.size(); }

  /// The device's bytes after the kernels ran.
  std::vector<unsigned char> download(const DeviceBuffer& buffer) const;
  /// Whether anything but outputs has changed.
  bool has_stray_writes(const std::vector<unsigned char>& downloaded) const;

  template <class Value>
  static std::vector<Value> read(const std::vector<unsigned char>& bytes, std::size_t place,
                                 std::size_t count) {
    std::vector<Value> values(count);
    std::memcpy(values.data(), bytes.data() + place, count * sizeof(Value));
    return values;
  }

 private:
  struct Range {
    std::size_t begin, end;
  };
  std::size_t reserve(std::size_t bytes);

  std::vector<unsigned char> image_;
  std::vector<Range> outputs_;  ///< ascending
};

}  // namespace heddle
