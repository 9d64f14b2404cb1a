#pragma once
// The driver's entry points in use, as one table. No CUDA header is included anywhere: types and
// values below are written after the ABI of CUDA 12.0 (cuda.h), which every later driver keeps for
// callers that ask for version 12000 or for the symbol names given here.

#include <cstddef>
#include <cstdint>
#include <string>

#include "runtime/driver.hpp"
#include "templates/tensor_map.cuh"

namespace heddle {

using DriverResult = int;  // CUresult
using DeviceHandle = int;  // CUdevice

/// The oldest driver whose entry points the table below describes.
constexpr int kOldestDriverVersion = 12000;

// CUresult values that heddle tells apart.
constexpr DriverResult kDriverSuccess = 0;
constexpr DriverResult kDriverInvalidValue = 1;
constexpr DriverResult kDriverOutOfMemory = 2;
constexpr DriverResult kDriverNotInitialized = 3;
constexpr DriverResult kDriverDeinitialized = 4;
constexpr DriverResult kDriverStubLibrary = 34;
constexpr DriverResult kDriverNoDevice = 100;
constexpr DriverResult kDriverInvalidDevice = 101;
constexpr DriverResult kDriverInvalidImage = 200;
constexpr DriverResult kDriverInvalidContext = 201;
constexpr DriverResult kDriverNoBinaryForGpu = 209;
constexpr DriverResult kDriverInvalidPtx = 218;
constexpr DriverResult kDriverUnsupportedPtxVersion = 222;
constexpr DriverResult kDriverInvalidHandle = 400;
constexpr DriverResult kDriverNotFound = 500;
constexpr DriverResult kDriverIllegalAddress = 700;
constexpr DriverResult kDriverLaunchFailed = 719;
constexpr DriverResult kDriverSystemDriverMismatch = 803;
constexpr DriverResult kDriverStreamCaptureUnsupported = 900;

/// CUdevice_attribute.
enum class DeviceAttribute : int {
  kClockRateKhz = 13,
  kMultiprocessorCount = 16,
  kMemoryClockRateKhz = 36,
  kMemoryBusWidthBits = 37,
  kL2CacheBytes = 38,
  kMaxThreadsPerMultiprocessor = 39,
  kCapabilityMajor = 75,
  kCapabilityMinor = 76,
  kMaxSharedBytesPerMultiprocessor = 81,
  kMaxRegistersPerMultiprocessor = 82,
  kMaxSharedBytesPerBlockOptin = 97,
  kMaxBlocksPerMultiprocessor = 106,
};

/// CUfunction_attribute.
enum class FunctionAttribute : int {
  kLocalBytes = 3,
  kRegisters = 4,
  kMaxDynamicSharedBytes = 8,
};

/// CUpointer_attribute.
enum class PointerAttribute : int { kDeviceOrdinal = 9 };

/// CUstreamCaptureStatus.
enum class CaptureStatus : int { kNone = 0, kActive = 1, kInvalidated = 2 };

// CUtensorMapInterleave, CUtensorMapL2promotion, CUtensorMapFloatOOBfill.
constexpr int kNoInterleave = 0;
constexpr int kNoL2Promotion = 0;
constexpr int kFillZeros = 0;

constexpr unsigned kStreamNonBlocking = 1;  // CU_STREAM_NON_BLOCKING

// X(member, symbol, signature): cuGetProcAddress is asked for `member`, dlsym for `symbol`. The one
// list behind the table, its resolution and the fake driver of the tests.
#define HEDDLE_DRIVER_ENTRY_POINTS(X)                                                              \
  X(cuInit, cuInit, DriverResult(unsigned))                                                        \
  X(cuDriverGetVersion, cuDriverGetVersion, DriverResult(int*))                                    \
  X(cuGetErrorName, cuGetErrorName, DriverResult(DriverResult, const char**))                      \
  X(cuGetErrorString, cuGetErrorString, DriverResult(DriverResult, const char**))                  \
  X(cuDeviceGetCount, cuDeviceGetCount, DriverResult(int*))                                        \
  X(cuDeviceGet, cuDeviceGet, DriverResult(DeviceHandle*, int))                                    \
  X(cuDeviceGetName, cuDeviceGetName, DriverResult(char*, int, DeviceHandle))                      \
  X(cuDeviceGetPCIBusId, cuDeviceGetPCIBusId, DriverResult(char*, int, DeviceHandle))              \
  X(cuDeviceGetAttribute, cuDeviceGetAttribute, DriverResult(int*, DeviceAttribute, DeviceHandle)) \
  X(cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain,                                            \
    DriverResult(DriverContext*, DeviceHandle))                                                    \
  X(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2, DriverResult(DeviceHandle))           \
  X(cuCtxGetCurrent, cuCtxGetCurrent, DriverResult(DriverContext*))                                \
  X(cuCtxSetCurrent, cuCtxSetCurrent, DriverResult(DriverContext))                                 \
  X(cuCtxPushCurrent, cuCtxPushCurrent_v2, DriverResult(DriverContext))                            \
  X(cuCtxPopCurrent, cuCtxPopCurrent_v2, DriverResult(DriverContext*))                             \
  X(cuCtxGetDevice, cuCtxGetDevice, DriverResult(DeviceHandle*))                                   \
  X(cuCtxSynchronize, cuCtxSynchronize, DriverResult())                                            \
  X(cuStreamCreate, cuStreamCreate, DriverResult(DriverStream*, unsigned))                         \
  X(cuStreamDestroy, cuStreamDestroy_v2, DriverResult(DriverStream))                               \
  X(cuStreamSynchronize, cuStreamSynchronize, DriverResult(DriverStream))                          \
  X(cuStreamGetCtx, cuStreamGetCtx, DriverResult(DriverStream, DriverContext*))                    \
  X(cuStreamIsCapturing, cuStreamIsCapturing, DriverResult(DriverStream, CaptureStatus*))          \
  X(cuModuleLoadData, cuModuleLoadData, DriverResult(DriverModule*, const void*))                  \
  X(cuModuleUnload, cuModuleUnload, DriverResult(DriverModule))                                    \
  X(cuModuleGetFunction, cuModuleGetFunction,                                                      \
    DriverResult(DriverFunction*, DriverModule, const char*))                                      \
  X(cuModuleGetGlobal, cuModuleGetGlobal_v2,                                                       \
    DriverResult(DevicePointer*, std::size_t*, DriverModule, const char*))                         \
  X(cuFuncGetAttribute, cuFuncGetAttribute, DriverResult(int*, FunctionAttribute, DriverFunction)) \
  X(cuFuncSetAttribute, cuFuncSetAttribute, DriverResult(DriverFunction, FunctionAttribute, int))  \
  X(cuLaunchKernel, cuLaunchKernel,                                                                \
    DriverResult(DriverFunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,       \
                 unsigned, DriverStream, void**, void**))                                          \
  X(cuTensorMapEncodeTiled, cuTensorMapEncodeTiled,                                                \
    DriverResult(TensorMap*, int, unsigned, void*, const std::uint64_t*, const std::uint64_t*,     \
                 const std::uint32_t*, const std::uint32_t*, int, int, int, int))                  \
  X(cuMemGetInfo, cuMemGetInfo_v2, DriverResult(std::size_t*, std::size_t*))                       \
  X(cuMemAlloc, cuMemAlloc_v2, DriverResult(DevicePointer*, std::size_t))                          \
  X(cuMemFree, cuMemFree_v2, DriverResult(DevicePointer))                                          \
  X(cuMemcpyHtoD, cuMemcpyHtoD_v2, DriverResult(DevicePointer, const void*, std::size_t))          \
  X(cuMemcpyDtoH, cuMemcpyDtoH_v2, DriverResult(void*, DevicePointer, std::size_t))                \
  X(cuMemsetD8, cuMemsetD8_v2, DriverResult(DevicePointer, unsigned char, std::size_t))            \
  X(cuPointerGetAttribute, cuPointerGetAttribute,                                                  \
    DriverResult(void*, PointerAttribute, DevicePointer))                                          \
  X(cuEventCreate, cuEventCreate, DriverResult(DriverEvent*, unsigned))                            \
  X(cuEventDestroy, cuEventDestroy_v2, DriverResult(DriverEvent))                                  \
  X(cuEventRecord, cuEventRecord, DriverResult(DriverEvent, DriverStream))                         \
  X(cuEventElapsedTime, cuEventElapsedTime, DriverResult(float*, DriverEvent, DriverEvent))

struct Driver::Api {
#define HEDDLE_DRIVER_MEMBER(member, symbol, ...) \
  using member##_signature = __VA_ARGS__;         \
  member##_signature* member = nullptr;
  HEDDLE_DRIVER_ENTRY_POINTS(HEDDLE_DRIVER_MEMBER)
#undef HEDDLE_DRIVER_MEMBER
};

/// cuGetProcAddress as of 12.0 (symbol cuGetProcAddress_v2).
using GetProcAddress = DriverResult(const char*, void**, int, std::uint64_t, int*);

/// "CUDA_ERROR_INVALID_VALUE (invalid argument)"; the number where the driver knows no name.
std::string driver_error_text(const Driver::Api& api, DriverResult result);

/// True for faults of a kernel that already ran. They stay with their context and are returned by
/// whatever is called next, so a launch or load that returns one did not cause it.
bool is_earlier_fault(DriverResult result);

/// Throws the Error for a failed call: `attempt` says what was tried ("cuMemAlloc of 1024 bytes").
/// An earlier fault is reported as such and never blamed on the attempt.
[[noreturn]] void throw_driver_error(const Driver::Api& api, DriverResult result,
                                     const std::string& attempt);

inline void check_driver(const Driver::Api& api, DriverResult result, const char* attempt) {
  if (result != kDriverSuccess) [[unlikely]]
    throw_driver_error(api, result, attempt);
}

/// Makes a context current for a scope and restores the caller's. The destructor never throws: a
/// driver that shut down first (process exit) has nothing left to restore.
class ContextScope {
 public:
  ContextScope(const Driver::Api& api, DriverContext context) : api_(api) {
    check_driver(api, api.cuCtxPushCurrent(context), "cuCtxPushCurrent");
  }
  ~ContextScope() {
    DriverContext popped = nullptr;
    api_.cuCtxPopCurrent(&popped);
  }
  ContextScope(const ContextScope&) = delete;
  ContextScope& operator=(const ContextScope&) = delete;

 private:
  const Driver::Api& api_;
};

}  // namespace heddle
