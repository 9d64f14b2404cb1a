#pragma once
// What the cases run on: the first GPU with its compiler, and streams.

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/compiler.hpp"
#include "runtime/device.hpp"
#include "runtime/driver_api.hpp"

namespace heddle {

/// $HEDDLE_SEED, which main() draws and prints where it is not set.
std::uint64_t test_seed();

/// The primary context of device 0 is current on the thread that made it.
class Gpu {
 public:
  explicit Gpu(const std::vector<std::string>& compiler_options = {});

  const Device& device() const { return device_; }
  const DeviceLimits& limits() const { return device_.limits(); }
  const Driver::Api& api() const { return device_.driver().api(); }
  Compiler& compiler() { return compiler_; }

  /// An entry point of the driver that the runtime has no use for.
  template <class Signature>
  Signature* entry(const char* symbol) const {
    return reinterpret_cast<Signature*>(find_entry(symbol));
  }
  void check(DriverResult result, const char* attempt) const {
    check_driver(api(), result, attempt);
  }

  void copy_on_device(void* to, const void* from, std::size_t bytes, DriverStream stream) const;
  /// 0xff throughout: NaN in every element type.
  void poison(void* data, std::size_t bytes, DriverStream stream) const;
  void wait_for(DriverStream stream) const;

 private:
  void* find_entry(const char* symbol) const;

  Device device_;
  Compiler compiler_;
};

inline DevicePointer device_address(const void* pointer) {
  return static_cast<DevicePointer>(reinterpret_cast<std::uintptr_t>(pointer));
}

/// A stream that does not wait for the null stream, in the context current at its making.
class NonBlockingStream {
 public:
  explicit NonBlockingStream(const Driver::Api& api);
  ~NonBlockingStream();
  NonBlockingStream(const NonBlockingStream&) = delete;
  NonBlockingStream& operator=(const NonBlockingStream&) = delete;
  DriverStream get() const { return stream_; }

 private:
  const Driver::Api& api_;
  DriverStream stream_ = nullptr;
};

}  // namespace heddle
