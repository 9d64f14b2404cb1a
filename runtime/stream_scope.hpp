#pragma once

#include "runtime/driver_api.hpp"

namespace heddle {

/// The CUDA context a stream belongs to, current for a scope; the caller's is restored. Two driver
/// calls where it already is current.
class StreamScope {
 public:
  /// A null stream belongs to the current context. Throws kDriverError where there is none.
  StreamScope(const Driver::Api& api, DriverStream stream);
  ~StreamScope();
  StreamScope(const StreamScope&) = delete;
  StreamScope& operator=(const StreamScope&) = delete;

  DriverContext context() const noexcept { return context_; }

 private:
  const Driver::Api& api_;
  DriverContext context_ = nullptr;
  bool pushed_ = false;
};

/// True while the stream's work is recorded into a graph (or the capture is broken already).
bool is_capturing(const Driver::Api& api, DriverStream stream);

/// The device of the current context.
int current_device(const Driver::Api& api);

}  // namespace heddle
