#pragma once
// A CUDA driver without a GPU, as a shared library of its own (libheddle_fake_cuda.so): it exports
// the entry points that heddle uses, keeps the driver's rules about contexts, streams, capture and
// limits, runs no kernel, and records every launch. Tests load it by the path option of
// Driver::load and steer it through FakeCuda (fake_cuda_handle.hpp).

#include <cstddef>

#include "runtime/driver_api.hpp"

namespace heddle {

/// What the attributes of one device say. The default resembles an H200 with 1 GiB.
struct FakeDevice {
  char name[64] = "Fake H200";
  int capability_major = 9;
  int capability_minor = 0;
  int sm_count = 132;
  int shared_bytes_per_block = 232448;
  int shared_bytes_per_sm = 233472;
  int registers_per_sm = 65536;
  int threads_per_sm = 2048;
  int blocks_per_sm = 32;
  int l2_bytes = 60 << 20;
  int clock_khz = 1980000;
  int memory_clock_khz = 3201000;
  int memory_bus_bits = 6144;
  std::size_t memory_bytes = std::size_t{1} << 30;
};

constexpr std::size_t kFakeParameterBytes = 1024;

/// One launch, as the driver saw it.
struct FakeLaunch {
  const char* kernel = nullptr;
  const char* variant = nullptr;  ///< as the banner of its source says; "" where that is unknown
  unsigned grid[3] = {};
  unsigned block[3] = {};
  unsigned shared_bytes = 0;
  DriverStream stream = nullptr;
  DriverContext context = nullptr;  ///< the kernel's, which was also the calling thread's current
  int device = 0;
  bool captured = false;
  unsigned parameter_bytes = 0;
  unsigned char parameters[kFakeParameterBytes] = {};
};

/// Called on the launching thread in place of the kernel.
using FakeKernelHook = void(const FakeLaunch* launch, void* user);

// X(name, signature): the control interface, found by dlsym as fake_cuda_<name>. Entry points are
// named by their exported symbol ("cuMemAlloc_v2"); an unknown name answers false, or -1.
#define HEDDLE_FAKE_CUDA_CONTROLS(X)                                                            \
  /* Back to one default device, version 13000, no memory, no faults, all counts 0. */          \
  X(reset, void())                                                                              \
  X(set_devices, void(const FakeDevice* devices, int count))                                    \
  X(set_version, void(int version))                                                             \
  /* 0 = cuGetProcAddress_v2 knows nothing, so that only the exported symbols remain. */        \
  X(set_proc_address, void(int available))                                                      \
  /* The nth call from now (1 = the next) returns `code` and does nothing; once. */             \
  X(fail_nth, bool(const char* name, int nth, DriverResult code))                               \
  X(fail_next, bool(const char* name, DriverResult code))                                       \
  /* Every call returns `code` until 0 is set: a driver that has shut down, or the stub. */     \
  X(fail_all, void(DriverResult code))                                                          \
  /* Every call that touches this context returns `code`, for good, as after a kernel fault. */ \
  X(set_sticky_error, void(DriverContext context, DriverResult code))                           \
  X(call_count, long long(const char* name))                                                    \
  X(total_calls, long long())                                                                   \
  X(launch_count, long long())                                                                  \
  /* The launch of that number since reset; only the last 127 are kept. */                      \
  X(launch, bool(long long index, FakeLaunch* launch))                                          \
  X(last_launch, bool(FakeLaunch * launch))                                                     \
  X(on_launch, void(FakeKernelHook * hook, void* user))                                         \
  /* Virtual time that each launch takes, seen by events. */                                    \
  X(set_launch_seconds, void(double seconds))                                                   \
  X(create_context, DriverContext(int device))                                                  \
  X(destroy_context, void(DriverContext context))                                               \
  /* As cuDevicePrimaryCtxReset: the handle stays good, modules and streams in it do not. */    \
  X(reset_context, void(DriverContext context))                                                 \
  X(create_stream, DriverStream(DriverContext context))                                         \
  X(set_capturing, void(DriverStream stream, bool capturing))                                   \
  X(live_modules, int())                                                                        \
  X(live_allocations, int())                                                                    \
  /* References to the primary context of a device. */                                          \
  X(primary_references, int(int device))                                                        \
  X(shared_opt_in, int(DriverContext context, const char* kernel))

}  // namespace heddle
