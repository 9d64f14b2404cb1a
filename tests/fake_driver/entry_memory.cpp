// Entry points: device memory, which is the host's.

#include <cstdlib>
#include <cstring>

#include "tests/fake_driver/exports.hpp"

using namespace heddle;        // NOLINT: the names below are the driver's, outside any namespace
using namespace heddle::fake;  // NOLINT

namespace {

constexpr std::size_t kAlignment = 512;  // finer than the real driver's, coarser than malloc's

std::size_t used_bytes(const State& fake, int device) {
  std::size_t used = 0;
  for (const auto& [address, allocation] : fake.allocations) {
    if (allocation.context->device == device) used += allocation.bytes;
  }
  return used;
}

const Allocation* find_allocation(const State& fake, DevicePointer address, std::size_t bytes) {
  auto next = fake.allocations.upper_bound(address);
  if (next == fake.allocations.begin()) return nullptr;
  const auto& [base, allocation] = *--next;
  return address + bytes <= base + allocation.bytes ? &allocation : nullptr;
}

/// Runs `work` if [address, address + bytes) lies in one allocation.
template <class Work>
DriverResult with_range(Entry entry, DevicePointer address, std::size_t bytes, Work work) {
  Context* current = nullptr;
  DriverResult result = enter(entry, current);
  if (result == kDriverSuccess) result = refuse_while_capturing();
  if (result != kDriverSuccess) return result;
  const std::lock_guard lock(state().mutex);
  if (find_allocation(state(), address, bytes) == nullptr) return kDriverInvalidValue;
  work(reinterpret_cast<void*>(address));
  return kDriverSuccess;
}

}  // namespace

DriverResult cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  Context* current = nullptr;
  const DriverResult result = enter(Entry::cuMemGetInfo_v2, current);
  if (result != kDriverSuccess) return result;
  const std::lock_guard lock(state().mutex);
  *total = state().devices[static_cast<std::size_t>(current->device)].memory_bytes;
  *free = *total - used_bytes(state(), current->device);
  return kDriverSuccess;
}

DriverResult cuMemAlloc_v2(DevicePointer* address, std::size_t bytes) {
  Context* current = nullptr;
  DriverResult result = enter(Entry::cuMemAlloc_v2, current);
  if (result == kDriverSuccess) result = refuse_while_capturing();
  if (result != kDriverSuccess) return result;
  if (bytes == 0) return kDriverInvalidValue;
  const std::lock_guard lock(state().mutex);
  const std::size_t total = state().devices[static_cast<std::size_t>(current->device)].memory_bytes;
  if (bytes > total - used_bytes(state(), current->device)) return kDriverOutOfMemory;
  void* memory = std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
  if (memory == nullptr) return kDriverOutOfMemory;
  *address = reinterpret_cast<DevicePointer>(memory);
  state().allocations[*address] = {bytes, current};
  return kDriverSuccess;
}

DriverResult cuMemFree_v2(DevicePointer address) {
  Context* current = nullptr;
  const DriverResult result = enter(Entry::cuMemFree_v2, current);
  if (result != kDriverSuccess) return result;
  const std::lock_guard lock(state().mutex);
  if (state().allocations.erase(address) == 0) return kDriverInvalidValue;
  std::free(reinterpret_cast<void*>(address));
  return kDriverSuccess;
}

DriverResult cuMemcpyHtoD_v2(DevicePointer address, const void* host, std::size_t bytes) {
  return with_range(Entry::cuMemcpyHtoD_v2, address, bytes,
                    [&](void* memory) { std::memcpy(memory, host, bytes); });
}

DriverResult cuMemcpyDtoH_v2(void* host, DevicePointer address, std::size_t bytes) {
  return with_range(Entry::cuMemcpyDtoH_v2, address, bytes,
                    [&](const void* memory) { std::memcpy(host, memory, bytes); });
}

DriverResult cuMemsetD8_v2(DevicePointer address, unsigned char byte, std::size_t bytes) {
  return with_range(Entry::cuMemsetD8_v2, address, bytes,
                    [&](void* memory) { std::memset(memory, byte, bytes); });
}

DriverResult cuPointerGetAttribute(void* value, PointerAttribute attribute, DevicePointer address) {
  const DriverResult result = enter(Entry::cuPointerGetAttribute);
  if (result != kDriverSuccess) return result;
  const std::lock_guard lock(state().mutex);
  const Allocation* allocation = find_allocation(state(), address, 0);
  if (allocation == nullptr) return kDriverInvalidValue;
  if (attribute != PointerAttribute::kDeviceOrdinal) return kDriverInvalidValue;
  *static_cast<int*>(value) = allocation->context->device;
  return kDriverSuccess;
}
