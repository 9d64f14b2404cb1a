#include "runtime/pointer_check.hpp"

#include <array>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

namespace heddle {
namespace {

using Named = std::pair<const char*, const void*>;

std::array<Named, 6> named(const TensorPointers& pointers) {
  return {Named{"query", pointers.query},
          Named{"key", pointers.key},
          Named{"value", pointers.value},
          Named{"output", pointers.output},
          Named{"log_sum_exp", pointers.log_sum_exp},
          Named{"workspace", pointers.workspace}};
}

bool is_aligned(const void* pointer, std::uintptr_t bytes) {
  return reinterpret_cast<std::uintptr_t>(pointer) % bytes == 0;
}

[[noreturn]] void misaligned(const char* field, const void* pointer, int bytes) {
  throw Error(ErrorCode::kInvalidArgument, field,
              fmt::format("{}: address {} is not a multiple of its element's {} bytes; pass the "
                          "address of an element",
                          field, pointer, bytes));
}

}  // namespace

void require_pointers(const Problem& problem, const TensorPointers& pointers) {
  const bool has_keys = problem.sizes.seqlen_kv > 0;
  const std::array<std::pair<Named, bool>, 4> needed{
      std::pair{Named{"query", pointers.query}, true},
      std::pair{Named{"key", pointers.key}, has_keys},
      std::pair{Named{"value", pointers.value}, has_keys},
      std::pair{Named{"output", pointers.output}, true}};
  for (const auto& [tensor, is_needed] : needed) {
    if (tensor.second != nullptr || !is_needed) [[likely]]
      continue;
    throw Error(ErrorCode::kInvalidArgument, tensor.first,
                fmt::format("{0}: is null; pass the device address of {0}", tensor.first));
  }
  if (!is_aligned(pointers.log_sum_exp, sizeof(float))) {
    misaligned("log_sum_exp", pointers.log_sum_exp, sizeof(float));
  }
}

int require_alignment(const Problem& problem, const TensorPointers& pointers) {
  const int alignment = alignment_class(problem, pointers);
  const int element = element_bytes(problem.variant.dtype);
  if (alignment >= element) [[likely]]
    return alignment;
  for (const auto& [field, pointer] : named(pointers)) {
    if (!is_aligned(pointer, static_cast<std::uintptr_t>(element))) {
      misaligned(field, pointer, element);
    }
  }
  throw Error(ErrorCode::kInternal, "alignment_class() is below the element size");
}

void require_device_memory(const Driver::Api& api, const TensorPointers& pointers, int device) {
  for (const auto& [field, pointer] : named(pointers)) {
    if (pointer == nullptr) continue;
    const auto address = static_cast<DevicePointer>(reinterpret_cast<std::uintptr_t>(pointer));
    int owner = device;
    const DriverResult result =
        api.cuPointerGetAttribute(&owner, PointerAttribute::kDeviceOrdinal, address);
    if (result == kDriverInvalidValue) {
      throw Error(ErrorCode::kInvalidArgument, field,
                  fmt::format("{}: address {} is not memory that the CUDA driver knows (a host "
                              "pointer?); pass memory from cuMemAlloc, cudaMalloc or the like",
                              field, pointer));
    }
    check_driver(api, result, "cuPointerGetAttribute");
    // Pinned and managed memory answers -2 (or a device): every device reaches it.
    if (owner < 0 || owner == device) continue;
    throw Error(ErrorCode::kInvalidArgument, field,
                fmt::format("{}: address {} is memory of device {}, but the stream runs on device "
                            "{}; all tensors must be on the stream's device",
                            field, pointer, owner, device));
  }
}

}  // namespace heddle
