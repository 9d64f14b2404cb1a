#include "runtime/device.hpp"

#include "runtime/driver_api.hpp"

namespace heddle {

struct Device::State {
  std::shared_ptr<const Driver> driver;
  int ordinal = 0;
  DeviceHandle handle = 0;
  DeviceLimits limits;
  DeviceClass device_class;
  DriverContext context = nullptr;

  // The release may find a driver that has already shut down; nothing is left to do then.
  ~State() {
    if (context != nullptr) driver->api().cuDevicePrimaryCtxRelease(handle);
  }
};

Device::Device(std::shared_ptr<const Driver> driver, int ordinal)
    : state_(std::make_unique<State>()) {
  state_->driver = std::move(driver);
  state_->ordinal = ordinal;
  state_->limits = state_->driver->device_limits(ordinal);
  state_->device_class = state_->driver->device_class(ordinal);
  const Driver::Api& api = state_->driver->api();
  check_driver(api, api.cuDeviceGet(&state_->handle, ordinal), "cuDeviceGet");
  check_driver(api, api.cuDevicePrimaryCtxRetain(&state_->context, state_->handle),
               "cuDevicePrimaryCtxRetain");
}

Device::~Device() = default;

const Driver& Device::driver() const {
  return *state_->driver;
}
std::shared_ptr<const Driver> Device::driver_pointer() const {
  return state_->driver;
}
int Device::ordinal() const {
  return state_->ordinal;
}
const DeviceLimits& Device::limits() const {
  return state_->limits;
}
const DeviceClass& Device::device_class() const {
  return state_->device_class;
}
DriverContext Device::context() const {
  return state_->context;
}

void Device::make_current() const {
  const Driver::Api& api = driver().api();
  check_driver(api, api.cuCtxSetCurrent(context()), "cuCtxSetCurrent");
}

std::size_t Device::free_bytes() const {
  const Driver::Api& api = driver().api();
  const ContextScope scope(api, context());
  std::size_t free = 0;
  std::size_t total = 0;
  check_driver(api, api.cuMemGetInfo(&free, &total), "cuMemGetInfo");
  return free;
}

void Device::synchronize() const {
  const Driver::Api& api = driver().api();
  const ContextScope scope(api, context());
  check_driver(api, api.cuCtxSynchronize(), "cuCtxSynchronize");
}

}  // namespace heddle
