#include <algorithm>
#include <array>

#include "runtime/driver_api.hpp"

namespace heddle {
namespace {

// CUresult values a context keeps once a kernel (or the hardware under it) has failed: ECC, NVLink,
// contained error, illegal address, launch timeout, assert, hardware stack, illegal instruction,
// misaligned address, invalid address space, invalid PC, launch failure, tensor memory leak.
constexpr std::array<DriverResult, 13> kFaults{214, 220, 226, 700, 702, 710, 714,
                                               715, 716, 717, 718, 719, 721};

ErrorCode error_code(DriverResult result) {
  switch (result) {
    case kDriverOutOfMemory:
      return ErrorCode::kOutOfMemory;
    case kDriverStubLibrary:
    case kDriverSystemDriverMismatch:
      return ErrorCode::kDriverMissing;
    case kDriverNoDevice:
    case kDriverInvalidDevice:
      return ErrorCode::kDeviceMissing;
    default:
      return ErrorCode::kDriverError;
  }
}

}  // namespace

std::string driver_error_text(const Driver::Api& api, DriverResult result) {
  const char* name = nullptr;
  const char* description = nullptr;
  if (api.cuGetErrorName(result, &name) != kDriverSuccess || name == nullptr) {
    return "driver error " + std::to_string(result);
  }
  std::string text = name;
  if (api.cuGetErrorString(result, &description) == kDriverSuccess && description != nullptr) {
    text += " (" + std::string(description) + ")";
  }
  return text;
}

bool is_earlier_fault(DriverResult result) {
  return std::find(kFaults.begin(), kFaults.end(), result) != kFaults.end();
}

void throw_driver_error(const Driver::Api& api, DriverResult result, const std::string& attempt) {
  const std::string text = driver_error_text(api, result);
  if (is_earlier_fault(result)) {
    throw Error(ErrorCode::kDriverError,
                "the CUDA context already held " + text + " when heddle called " + attempt +
                    ": work submitted earlier in this context failed. Such an error stays until "
                    "the context is destroyed; run compute-sanitizer to find the kernel at fault");
  }
  throw Error(error_code(result), attempt + " failed: " + text);
}

}  // namespace heddle
