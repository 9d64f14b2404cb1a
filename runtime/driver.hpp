#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "generator/architecture.hpp"
#include "tuning_db/records.hpp"

namespace heddle {

// Opaque driver handles; no CUDA header is needed anywhere.
using DriverContext = void*;
using DriverModule = void*;
using DriverFunction = void*;
using DriverStream = void*;
using DriverEvent = void*;
using DevicePointer = unsigned long long;

/// libcuda.so.1, found at run time and never linked. Every call checks its result and throws Error
/// with the driver's error name and what was attempted. Methods are thin; owners are in device.hpp.
class Driver {
 public:
  /// `path` empty = $HEDDLE_CUDA_DRIVER, then "libcuda.so.1". Throws kDriverMissing (also for the
  /// toolkit's stub, and for a driver too old), kDeviceMissing for none.
  static std::shared_ptr<const Driver> load(const std::string& path);
  ~Driver();

  int version() const;                      ///< 13000
  const std::string& library_path() const;  ///< the file the loader took
  int device_count() const;
  std::string device_name(int device) const;
  std::string pci_bus_id(int device) const;  ///< "0000:17:00.0", as other libraries know it
  DeviceLimits device_limits(int device) const;
  DeviceClass device_class(int device) const;

  struct Api;  ///< the function table (runtime/driver_api.hpp)
  const Api& api() const;

 private:
  Driver();
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace heddle
