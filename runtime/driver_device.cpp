// What the driver says about a device, joined with what the architecture table knows of its kind.

#include <array>

#include "runtime/driver_api.hpp"

namespace heddle {
namespace {

DeviceHandle device_handle(const Driver& driver, int device) {
  if (device < 0 || device >= driver.device_count()) {
    throw Error(ErrorCode::kDeviceMissing, "device",
                "device " + std::to_string(device) + " does not exist; the driver lists " +
                    std::to_string(driver.device_count()) + " (0 is the first)");
  }
  DeviceHandle handle = 0;
  check_driver(driver.api(), driver.api().cuDeviceGet(&handle, device), "cuDeviceGet");
  return handle;
}

int attribute(const Driver& driver, DeviceHandle handle, DeviceAttribute which) {
  int value = 0;
  const DriverResult result = driver.api().cuDeviceGetAttribute(&value, which, handle);
  if (result != kDriverSuccess) {
    throw_driver_error(
        driver.api(), result,
        "cuDeviceGetAttribute of attribute " + std::to_string(static_cast<int>(which)));
  }
  return value;
}

const DeviceLimits& architecture_row(const Driver& driver, int device, int major, int minor) {
  const DeviceLimits* row = row_for_capability(major, minor);
  if (row != nullptr) return *row;
  std::string known;
  for (const DeviceLimits& entry : architecture_table()) {
    known += (known.empty() ? "" : ", ") + entry.architecture;
  }
  throw Error(ErrorCode::kUnsupported, "device",
              "device " + std::to_string(device) + " (" + driver.device_name(device) +
                  ") has compute capability " + std::to_string(major) + "." +
                  std::to_string(minor) + ", for which heddle has no architecture (known: " +
                  known + "); use another device or a newer heddle");
}

}  // namespace

std::string Driver::pci_bus_id(int device) const {
  std::array<char, 32> id{};
  const DeviceHandle handle = device_handle(*this, device);
  check_driver(api(), api().cuDeviceGetPCIBusId(id.data(), static_cast<int>(id.size()), handle),
               "cuDeviceGetPCIBusId");
  return id.data();
}

std::string Driver::device_name(int device) const {
  std::array<char, 256> name{};
  const DeviceHandle handle = device_handle(*this, device);
  check_driver(api(), api().cuDeviceGetName(name.data(), static_cast<int>(name.size()) - 1, handle),
               "cuDeviceGetName");
  return name.data();
}

DeviceLimits Driver::device_limits(int device) const {
  const DeviceHandle handle = device_handle(*this, device);
  const auto read = [&](DeviceAttribute which) { return attribute(*this, handle, which); };
  const int major = read(DeviceAttribute::kCapabilityMajor);
  const int minor = read(DeviceAttribute::kCapabilityMinor);
  DeviceLimits limits = architecture_row(*this, device, major, minor);
  limits.capability_major = major;
  limits.capability_minor = minor;
  limits.sm_count = read(DeviceAttribute::kMultiprocessorCount);
  limits.shared_bytes_per_block = read(DeviceAttribute::kMaxSharedBytesPerBlockOptin);
  limits.shared_bytes_per_sm = read(DeviceAttribute::kMaxSharedBytesPerMultiprocessor);
  limits.registers_per_sm = read(DeviceAttribute::kMaxRegistersPerMultiprocessor);
  limits.threads_per_sm = read(DeviceAttribute::kMaxThreadsPerMultiprocessor);
  limits.blocks_per_sm = read(DeviceAttribute::kMaxBlocksPerMultiprocessor);
  limits.l2_bytes = read(DeviceAttribute::kL2CacheBytes);
  // Rates only steer the cost model; a device that hides them (0) keeps the table's figures.
  const int clock_khz = read(DeviceAttribute::kClockRateKhz);
  if (clock_khz > 0) limits.clock_ghz = clock_khz * 1e-6;
  const double memory_khz = read(DeviceAttribute::kMemoryClockRateKhz);
  const double bus_bytes = read(DeviceAttribute::kMemoryBusWidthBits) / 8.0;
  constexpr double kTransfersPerClock = 2;  // double data rate
  if (memory_khz * bus_bytes > 0) {
    limits.hbm_bytes_per_second = kTransfersPerClock * memory_khz * 1e3 * bus_bytes;
  }
  return limits;
}

DeviceClass Driver::device_class(int device) const {
  const DeviceHandle handle = device_handle(*this, device);
  const auto read = [&](DeviceAttribute which) { return attribute(*this, handle, which); };
  DeviceClass result;
  result.capability_major = read(DeviceAttribute::kCapabilityMajor);
  result.capability_minor = read(DeviceAttribute::kCapabilityMinor);
  result.sm_count = read(DeviceAttribute::kMultiprocessorCount);
  result.shared_bytes_per_block = read(DeviceAttribute::kMaxSharedBytesPerBlockOptin);
  result.l2_bytes = read(DeviceAttribute::kL2CacheBytes);
  result.name = device_name(device);
  return result;
}

}  // namespace heddle
