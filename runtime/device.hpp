#pragma once
// Owners over the driver for code that runs whole problems itself: verify, run, tune, bench. The
// serving path (context.hpp) owns no memory and uses none of this.

#include <cstddef>
#include <memory>

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
  void make_current() const;  ///< on the calling thread
  std::size_t free_bytes() const;
  void synchronize() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Device memory with a guard band on each side, so that a stray write is seen by guards_intact().
/// Transfers and fills have finished when they return, for work on any stream. Must not outlive its
/// Device.
class DeviceBuffer {
 public:
  /// data() is 256-byte aligned. Throws kOutOfMemory naming what was asked and what is free.
  DeviceBuffer(const Device& device, std::size_t bytes, std::size_t guard_bytes = 0);
  ~DeviceBuffer();
  DeviceBuffer(DeviceBuffer&& other) noexcept;
  DeviceBuffer& operator=(DeviceBuffer&&) = delete;

  void* data() const;
  std::size_t bytes() const;
  /// The first `count` bytes.
  void upload(const void* host, std::size_t count);
  void download(void* host, std::size_t count) const;
  void fill(unsigned char byte);  ///< 0xff = NaN in fp16, bf16, fp32 and fp64
  bool guards_intact() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace heddle
