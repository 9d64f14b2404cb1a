#include "runtime/stream_scope.hpp"

namespace heddle {
namespace {

/// cuStreamIsCapturing's answer for the legacy stream while another one of the thread is captured.
constexpr DriverResult kDriverStreamCaptureImplicit = 906;

DriverContext current_context(const Driver::Api& api) {
  DriverContext current = nullptr;
  check_driver(api, api.cuCtxGetCurrent(&current), "cuCtxGetCurrent");
  return current;
}

}  // namespace

StreamScope::StreamScope(const Driver::Api& api, DriverStream stream) : api_(api) {
  const DriverContext current = current_context(api);
  context_ = current;
  if (stream != nullptr) {
    check_driver(api, api.cuStreamGetCtx(stream, &context_), "cuStreamGetCtx of the stream");
  }
  if (context_ == nullptr) {
    throw Error(ErrorCode::kDriverError, "stream",
                "stream: is null and the calling thread has no current CUDA context; make one "
                "current (cudaSetDevice, cuCtxSetCurrent) or pass a stream");
  }
  if (context_ == current) return;
  check_driver(api, api.cuCtxPushCurrent(context_), "cuCtxPushCurrent of the stream's context");
  pushed_ = true;
}

StreamScope::~StreamScope() {
  DriverContext popped = nullptr;
  if (pushed_) api_.cuCtxPopCurrent(&popped);
}

bool is_capturing(const Driver::Api& api, DriverStream stream) {
  CaptureStatus status = CaptureStatus::kNone;
  const DriverResult result = api.cuStreamIsCapturing(stream, &status);
  if (result == kDriverStreamCaptureImplicit) return true;
  check_driver(api, result, "cuStreamIsCapturing");
  return status != CaptureStatus::kNone;
}

int current_device(const Driver::Api& api) {
  DeviceHandle device = 0;
  check_driver(api, api.cuCtxGetDevice(&device), "cuCtxGetDevice");
  return device;
}

}  // namespace heddle
