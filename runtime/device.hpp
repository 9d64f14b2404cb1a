#pragma once
// Owners over the driver for code that runs whole problems itself: verify, run, tune, bench. The
// serving path (context.hpp) owns no memory and uses none of this.

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "runtime/driver.hpp"

namespace heddle {

/// A device's primary context, retained while this lives.
class Device {
 public:
  Device(std::shared_ptr<const Driver> driver, int ordinal);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const Driver& driver() const;
  std::shared_ptr<const Driver> driver_pointer() const;
  int ordinal() const;
  const DeviceLimits& limits() const;
  const DeviceClass& device_class() const;
  DriverContext context() const;
  void make_current() const;
  std::size_t free_bytes() const;
  void synchronize() const;
  /// SM clock in MHz over a short busy kernel, 0 where it cannot be told.
  double clock_mhz() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Device memory with a guard band on each side that check_guards() verifies.
class DeviceBuffer {
 public:
  DeviceBuffer(const Device& device, std::size_t bytes, std::size_t guard_bytes = 0);
  ~DeviceBuffer();
  DeviceBuffer(DeviceBuffer&& other) noexcept;
  DeviceBuffer& operator=(DeviceBuffer&&) = delete;

  void* data() const;
  std::size_t bytes() const;
  void upload(const void* host, std::size_t bytes);
  void download(void* host, std::size_t bytes) const;
  void fill(unsigned char byte);  ///< 0xff = NaN in fp16, bf16, fp32 and fp64
  bool guards_intact() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// A config's kernels, loaded and ready to launch on one device.
class LoadedConfig;

}  // namespace heddle
