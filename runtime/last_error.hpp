#pragma once

#include <string_view>

#include "heddle/heddle.h"

namespace heddle {

/// The C ABI's explanation of a thread's last failing call. A fixed thread-local buffer: it needs
/// no memory when memory is what ran out, and no destructor when a thread or the process ends.
void set_last_error(const heddle_context* context, std::string_view field,
                    std::string_view message) noexcept;
/// "" unless this thread's last failing call was on `context` (null matches any).
const char* last_error_message(const heddle_context* context) noexcept;
const char* last_error_field(const heddle_context* context) noexcept;

}  // namespace heddle
