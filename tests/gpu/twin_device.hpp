#pragma once

#include <map>
#include <memory>

#include "runtime/compiler.hpp"
#include "runtime/device.hpp"
#include "tests/gpu/twin_case.hpp"

namespace heddle {

/// NVRTC's output for the text of a case; throws kCompileFailed with its log, also where ptxas
/// serialised a wgmma.
Nvrtc::Output compile_twin(const Nvrtc& nvrtc, const TwinCase& twin);

/// The device's half.
class TwinDevice {
 public:
  /// Throws kDriverMissing, kDeviceMissing, kNvrtcMissing.
  TwinDevice();
  ~TwinDevice();

  std::string name() const;
  bool is_hopper() const;
  Bytes run(const TwinCase& twin);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace heddle
