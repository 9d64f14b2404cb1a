// Entry points: start-up, errors, devices.

#include <cstdio>
#include <cstring>

#include "tests/fake_driver/exports.hpp"

namespace heddle::fake {
namespace {

struct ErrorName {
  DriverResult code;
  const char* name;
  const char* description;
};

constexpr ErrorName kErrors[] = {
    {kDriverSuccess, "CUDA_SUCCESS", "no error"},
    {kDriverInvalidValue, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {kDriverOutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {kDriverNotInitialized, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {kDriverDeinitialized, "CUDA_ERROR_DEINITIALIZED", "driver shutting down"},
    {kDriverStubLibrary, "CUDA_ERROR_STUB_LIBRARY", "CUDA driver is a stub library"},
    {kDriverNoDevice, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {kDriverInvalidDevice, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {kDriverInvalidImage, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {kDriverInvalidContext, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {kDriverNoBinaryForGpu, "CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image for this device"},
    {kDriverUnsupportedPtxVersion, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
     "the provided PTX was compiled with an unsupported toolchain."},
    {kDriverInvalidHandle, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {kDriverNotFound, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {kDriverIllegalAddress, "CUDA_ERROR_ILLEGAL_ADDRESS",
     "an illegal memory access was encountered"},
    {kDriverLaunchFailed, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {kDriverStreamCaptureUnsupported, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
     "operation not permitted when stream is capturing"}};

const ErrorName* find_error(DriverResult code) {
  for (const ErrorName& error : kErrors) {
    if (error.code == code) return &error;
  }
  return nullptr;
}

int attribute_of(const FakeDevice& device, DeviceAttribute attribute) {
  switch (attribute) {
    case DeviceAttribute::kClockRateKhz:
      return device.clock_khz;
    case DeviceAttribute::kMultiprocessorCount:
      return device.sm_count;
    case DeviceAttribute::kMemoryClockRateKhz:
      return device.memory_clock_khz;
    case DeviceAttribute::kMemoryBusWidthBits:
      return device.memory_bus_bits;
    case DeviceAttribute::kL2CacheBytes:
      return device.l2_bytes;
    case DeviceAttribute::kMaxThreadsPerMultiprocessor:
      return device.threads_per_sm;
    case DeviceAttribute::kCapabilityMajor:
      return device.capability_major;
    case DeviceAttribute::kCapabilityMinor:
      return device.capability_minor;
    case DeviceAttribute::kMaxSharedBytesPerMultiprocessor:
      return device.shared_bytes_per_sm;
    case DeviceAttribute::kMaxRegistersPerMultiprocessor:
      return device.registers_per_sm;
    case DeviceAttribute::kMaxSharedBytesPerBlockOptin:
      return device.shared_bytes_per_block;
    case DeviceAttribute::kMaxBlocksPerMultiprocessor:
      return device.blocks_per_sm;
  }
  return -1;
}

/// Runs `read(device)` for a device that exists.
template <class Read>
DriverResult with_device(Entry entry, DeviceHandle handle, Read read) {
  const DriverResult result = enter(entry);
  if (result != kDriverSuccess) return result;
  State& fake = state();
  const std::lock_guard lock(fake.mutex);
  if (handle < 0 || handle >= static_cast<int>(fake.devices.size())) return kDriverInvalidDevice;
  return read(fake.devices[static_cast<std::size_t>(handle)]);
}

}  // namespace
}  // namespace heddle::fake

using namespace heddle;        // NOLINT: the names below are the driver's, outside any namespace
using namespace heddle::fake;  // NOLINT

DriverResult cuInit(unsigned) {
  const DriverResult result = enter(Entry::cuInit);
  if (result == kDriverSuccess) state().initialized = true;
  return result;
}

DriverResult cuDriverGetVersion(int* version) {
  const DriverResult result = enter(Entry::cuDriverGetVersion);
  if (result == kDriverSuccess) *version = state().version;
  return result;
}

DriverResult cuGetErrorName(DriverResult code, const char** name) {
  enter(Entry::cuGetErrorName);
  const ErrorName* error = find_error(code);
  *name = error == nullptr ? nullptr : error->name;
  return error == nullptr ? kDriverInvalidValue : kDriverSuccess;
}

DriverResult cuGetErrorString(DriverResult code, const char** description) {
  enter(Entry::cuGetErrorString);
  const ErrorName* error = find_error(code);
  *description = error == nullptr ? nullptr : error->description;
  return error == nullptr ? kDriverInvalidValue : kDriverSuccess;
}

DriverResult cuDeviceGetCount(int* count) {
  const DriverResult result = enter(Entry::cuDeviceGetCount);
  if (result != kDriverSuccess) return result;
  const std::lock_guard lock(state().mutex);
  *count = static_cast<int>(state().devices.size());
  return kDriverSuccess;
}

DriverResult cuDeviceGet(DeviceHandle* handle, int ordinal) {
  return with_device(Entry::cuDeviceGet, ordinal, [&](const FakeDevice&) {
    *handle = ordinal;
    return kDriverSuccess;
  });
}

DriverResult cuDeviceGetName(char* name, int size, DeviceHandle handle) {
  return with_device(Entry::cuDeviceGetName, handle, [&](const FakeDevice& device) {
    std::strncpy(name, device.name, static_cast<std::size_t>(size));
    return kDriverSuccess;
  });
}

DriverResult cuDeviceGetPCIBusId(char* id, int size, DeviceHandle handle) {
  return with_device(Entry::cuDeviceGetPCIBusId, handle, [&](const FakeDevice&) {
    std::snprintf(id, static_cast<std::size_t>(size), "0000:%02x:00.0", 0x17 + handle);
    return kDriverSuccess;
  });
}

DriverResult cuDeviceGetAttribute(int* value, DeviceAttribute attribute, DeviceHandle handle) {
  return with_device(Entry::cuDeviceGetAttribute, handle, [&](const FakeDevice& device) {
    *value = attribute_of(device, attribute);
    return *value < 0 ? kDriverInvalidValue : kDriverSuccess;
  });
}
