#pragma once

#include <stdexcept>
#include <string>

namespace heddle {

/// What kind of thing went wrong. The C ABI's heddle_status and the command line's exit codes are
/// derived from these; add at the end only.
enum class ErrorCode {
  kInvalidArgument,    ///< the caller's input is wrong: field, value and remedy are in the message
  kUnsupported,        ///< a valid request that heddle cannot honour (yet)
  kNoLegalConfig,      ///< no kernel configuration is legal for this problem on this device
  kCheckFailed,        ///< a kernel's result differs from the reference
  kCompileFailed,      ///< NVRTC refused the source, or its log rejects the kernel
  kDriverMissing,      ///< no CUDA driver, only its stub, or too old a one
  kDeviceMissing,      ///< a driver, but no device (or not the one asked for)
  kNvrtcMissing,       ///< no usable libnvrtc
  kDriverError,        ///< a driver call failed
  kOutOfMemory,        ///< host or device memory
  kWorkspaceTooSmall,  ///< the caller's workspace is smaller than the problem needs
  kCaptureMiss,        ///< a kernel is not resident while the stream is being captured
  kIo,                 ///< a file could not be read or written
  kInternal,           ///< a fault of heddle's own
  kHostCompilerMissing,  ///< no C++ compiler to run kernels on the CPU with
  kDeviceBusy,           ///< others use the device, so that nothing can be measured on it
};

/// The one exception of the library's inside; it never crosses the C ABI.
class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, std::string field, const std::string& message)
      : std::runtime_error(message), code_(code), field_(std::move(field)) {}
  Error(ErrorCode code, const std::string& message) : Error(code, "", message) {}

  ErrorCode code() const noexcept { return code_; }
  /// The offending field ("head_dim"), or empty where no single field is to blame.
  const std::string& field() const noexcept { return field_; }

 private:
  ErrorCode code_;
  std::string field_;
};

}  // namespace heddle
