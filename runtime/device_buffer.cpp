#include <algorithm>
#include <vector>

#include "runtime/device.hpp"
#include "runtime/driver_api.hpp"

namespace heddle {
namespace {

constexpr std::size_t kBufferAlignment = 256;
// Neither zero nor a NaN pattern: a stray write of either is seen.
constexpr unsigned char kGuardByte = 0xa5;

std::size_t round_up(std::size_t bytes) {
  return (bytes + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment;
}

}  // namespace

struct DeviceBuffer::State {
  std::shared_ptr<const Driver> driver;
  DriverContext context = nullptr;
  DevicePointer base = 0;
  std::size_t bytes = 0;
  std::size_t guard = 0;  ///< of each side; the one behind also covers the rounding up of `bytes`

  const Driver::Api& api() const { return driver->api(); }
  DevicePointer data() const { return base + guard; }
  std::size_t guard_behind() const { return guard == 0 ? 0 : guard + round_up(bytes) - bytes; }

  void allocate(const Device& device);
  void set(DevicePointer address, unsigned char byte, std::size_t count) const;
  bool holds_guard(DevicePointer address, std::size_t count) const;
  void check_range(std::size_t count, const char* what) const;

  ~State() {
    if (base == 0 || api().cuCtxPushCurrent(context) != kDriverSuccess) return;
    api().cuMemFree(base);
    DriverContext popped = nullptr;
    api().cuCtxPopCurrent(&popped);
  }
};

void DeviceBuffer::State::allocate(const Device& device) {
  // The driver refuses 0 bytes; an empty tensor still wants an address.
  const std::size_t total = std::max(kBufferAlignment, round_up(bytes) + 2 * guard);
  const DriverResult result = api().cuMemAlloc(&base, total);
  if (result == kDriverOutOfMemory) {
    throw Error(ErrorCode::kOutOfMemory,
                "device memory: " + std::to_string(total) + " bytes were asked for on device " +
                    std::to_string(device.ordinal()) + ", " + std::to_string(device.free_bytes()) +
                    " are free; use a smaller problem or free memory");
  }
  check_driver(api(), result, "cuMemAlloc");
}

void DeviceBuffer::State::set(DevicePointer address, unsigned char byte, std::size_t count) const {
  if (count == 0) return;
  check_driver(api(), api().cuMemsetD8(address, byte, count), "cuMemsetD8");
}

bool DeviceBuffer::State::holds_guard(DevicePointer address, std::size_t count) const {
  std::vector<unsigned char> bytes_read(count);
  if (count == 0) return true;
  check_driver(api(), api().cuMemcpyDtoH(bytes_read.data(), address, count), "cuMemcpyDtoH");
  return std::all_of(bytes_read.begin(), bytes_read.end(),
                     [](unsigned char byte) { return byte == kGuardByte; });
}

void DeviceBuffer::State::check_range(std::size_t count, const char* what) const {
  if (count <= bytes) return;
  throw Error(ErrorCode::kInternal, std::string(what) + " of " + std::to_string(count) +
                                        " bytes on a device buffer of " + std::to_string(bytes));
}

DeviceBuffer::DeviceBuffer(const Device& device, std::size_t bytes, std::size_t guard_bytes)
    : state_(std::make_unique<State>()) {
  state_->driver = device.driver_pointer();
  state_->context = device.context();
  state_->bytes = bytes;
  state_->guard = round_up(guard_bytes);
  const ContextScope scope(state_->api(), state_->context);
  state_->allocate(device);
  state_->set(state_->base, kGuardByte, state_->guard);
  state_->set(state_->data() + bytes, kGuardByte, state_->guard_behind());
  check_driver(state_->api(), state_->api().cuStreamSynchronize(nullptr), "cuStreamSynchronize");
}

DeviceBuffer::~DeviceBuffer() = default;
DeviceBuffer::DeviceBuffer(DeviceBuffer&& other) noexcept = default;

void* DeviceBuffer::data() const {
  return reinterpret_cast<void*>(state_->data());
}
std::size_t DeviceBuffer::bytes() const {
  return state_->bytes;
}

// Copies from pageable memory and fills may return before they are done, ordered with the null
// stream alone; heddle's own streams do not wait for that one, hence the synchronisation.
void DeviceBuffer::upload(const void* host, std::size_t count) {
  state_->check_range(count, "upload");
  if (count == 0) return;
  const Driver::Api& api = state_->api();
  const ContextScope scope(api, state_->context);
  check_driver(api, api.cuMemcpyHtoD(state_->data(), host, count), "cuMemcpyHtoD");
  check_driver(api, api.cuStreamSynchronize(nullptr), "cuStreamSynchronize");
}

void DeviceBuffer::download(void* host, std::size_t count) const {
  state_->check_range(count, "download");
  if (count == 0) return;
  const ContextScope scope(state_->api(), state_->context);
  check_driver(state_->api(), state_->api().cuMemcpyDtoH(host, state_->data(), count),
               "cuMemcpyDtoH");
}

void DeviceBuffer::fill(unsigned char byte) {
  const ContextScope scope(state_->api(), state_->context);
  state_->set(state_->data(), byte, state_->bytes);
  check_driver(state_->api(), state_->api().cuStreamSynchronize(nullptr), "cuStreamSynchronize");
}

bool DeviceBuffer::guards_intact() const {
  const ContextScope scope(state_->api(), state_->context);
  return state_->holds_guard(state_->base, state_->guard) &&
         state_->holds_guard(state_->data() + state_->bytes, state_->guard_behind());
}

}  // namespace heddle
