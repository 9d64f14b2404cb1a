#pragma once
// Kernels of the tests' own: inputs made on the device, comparisons made there, delays.

#include <cstdint>
#include <initializer_list>

#include "generator/problem.hpp"
#include "tests/gpu/cases/gpu.hpp"

namespace heddle {

class SmallKernels {
 public:
  /// Compiled and loaded in the device's primary context.
  explicit SmallKernels(Gpu& gpu);
  ~SmallKernels();
  SmallKernels(const SmallKernels&) = delete;
  SmallKernels& operator=(const SmallKernels&) = delete;

  struct Normal {
    DataType dtype;
    std::uint64_t seed;
  };
  /// About N(0, 1), a function of seed and place alone. On the null stream; waits.
  void fill_normal(void* elements, std::size_t count, const Normal& kind) const;

  /// Adds to *counter (in device memory) how many 32-bit words differ.
  void count_different(const void* left, const void* right, std::size_t bytes, void* counter,
                       DriverStream stream) const;
  /// How many 16-bit elements still are 0xffff, as poison left them. On the null stream; waits.
  std::uint64_t count_poisoned(const void* elements, std::size_t count) const;

  /// Waits on the device, then copies: a producer that is late.
  void copy_late(void* to, const void* from, std::size_t bytes, double seconds,
                 DriverStream stream) const;
  /// Keeps every SM busy for about this long.
  void burn(double seconds, DriverStream stream) const;
  /// Keeps so many SMs to itself for about this long: each block takes all of one's shared memory.
  void hold(int multiprocessors, double seconds, DriverStream stream) const;

 private:
  struct Grid {
    unsigned blocks;
    DriverStream stream;
    unsigned shared_bytes = 0;
  };
  void launch(const char* name, const Grid& grid, std::initializer_list<void*> arguments) const;

  Gpu& gpu_;
  DriverModule module_ = nullptr;
};

/// A count in device memory, 0 at first.
class DeviceCounter {
 public:
  explicit DeviceCounter(const Gpu& gpu) : buffer_(gpu.device(), sizeof(std::uint64_t)) {
    buffer_.fill(0);
  }
  void* data() const { return buffer_.data(); }
  std::uint64_t value() const {
    std::uint64_t count = 0;
    buffer_.download(&count, sizeof count);
    return count;
  }

 private:
  DeviceBuffer buffer_;
};

}  // namespace heddle
