#include "runtime/pointer_check.hpp"

#include <algorithm>
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

std::array<Named, 5> named_scales(const TensorPointers& pointers) {
  return {Named{"query_descale", pointers.query_descale},
          Named{"key_descale", pointers.key_descale},
          Named{"value_descale", pointers.value_descale}, Named{"value_mean", pointers.value_mean},
          Named{"log_sum_exp_shift", pointers.log_sum_exp_shift}};
}

bool is_aligned(const void* pointer, std::uintptr_t bytes) {
  return reinterpret_cast<std::uintptr_t>(pointer) % bytes == 0;
}

[[noreturn]] void misaligned(const char* field, const void* pointer, int bytes) {
  throw Error(ErrorCode::kInvalidArgument, field,
              fmt::format("{}: address {} is not a multiple of {} bytes, as kernels want; pass the "
                          "address of an element",
                          field, pointer, bytes));
}

void require_scales(const Problem& problem, const TensorPointers& pointers) {
  for (const auto& [field, pointer] : named_scales(pointers)) {
    if (pointer == nullptr) [[likely]]
      continue;
    if (problem.variant.dtype != DataType::kE4m3) {
      throw Error(ErrorCode::kInvalidArgument, field,
                  fmt::format("{}: is {}, but only e4m3 inputs have any, not {}; leave it null",
                              field, pointer, value_text(problem.variant.dtype)));
    }
    if (!is_aligned(pointer, sizeof(float))) misaligned(field, pointer, sizeof(float));
  }
}

/// Whether the device the kernels run on reaches this address.
void require_memory_of(const Driver::Api& api, const Named& tensor, int device) {
  const auto& [field, pointer] = tensor;
  if (pointer == nullptr) return;
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
  if (owner < 0 || owner == device) return;
  throw Error(ErrorCode::kInvalidArgument, field,
              fmt::format("{}: address {} is memory of device {}, but the stream runs on device "
                          "{}; all tensors must be on the stream's device",
                          field, pointer, owner, device));
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
  require_scales(problem, pointers);
}

int require_alignment(const Problem& problem, const TensorPointers& pointers) {
  const int alignment = alignment_class(problem, pointers);
  // The smallest alignment class, where elements are smaller.
  const int element = std::max(element_bytes(problem.variant.dtype), 2);
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
  for (const Named& tensor : named(pointers)) require_memory_of(api, tensor, device);
  for (const Named& scale : named_scales(pointers)) require_memory_of(api, scale, device);
}

}  // namespace heddle
