#pragma once
// The edge of the C ABI: nothing is thrown past it.

#include "heddle/heddle.h"
#include "runtime/context.hpp"

/// The opaque type of heddle.h.
struct heddle_context {
  explicit heddle_context(heddle::Context::Options options) : context(std::move(options)) {}
  heddle::Context context;
};

namespace heddle {

/// Keeps the exception being handled as this thread's last error and returns its status.
heddle_status report_exception(const heddle_context* context) noexcept;

template <class Work>
heddle_status guarded(const heddle_context* context, Work&& work) noexcept {
  try {
    work();
    return HEDDLE_OK;
  } catch (...) {
    return report_exception(context);
  }
}

/// Throws kInvalidArgument where a pointer argument is null.
void require_not_null(const void* argument, const char* name);

}  // namespace heddle
