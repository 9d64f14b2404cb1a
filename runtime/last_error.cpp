#include "runtime/last_error.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace heddle {
namespace {

struct LastError {
  const heddle_context* context = nullptr;
  char field[64] = {};
  char message[4096] = {};
};
constinit thread_local LastError last_error;

/// Cut with an ellipsis where it does not fit; a compiler's log goes on for pages.
template <std::size_t kCapacity>
void store(char (&buffer)[kCapacity], std::string_view text) noexcept {
  constexpr std::string_view kEllipsis = "...";
  const std::size_t length = std::min(text.size(), kCapacity - 1);
  std::memcpy(buffer, text.data(), length);
  buffer[length] = '\0';
  if (length < text.size()) {
    std::memcpy(buffer + length - kEllipsis.size(), kEllipsis.data(), kEllipsis.size());
  }
}

bool is_for(const heddle_context* context) noexcept {
  return context == nullptr || last_error.context == context;
}

}  // namespace

void set_last_error(const heddle_context* context, std::string_view field,
                    std::string_view message) noexcept {
  last_error.context = context;
  store(last_error.field, field);
  store(last_error.message, message);
}

const char* last_error_message(const heddle_context* context) noexcept {
  return is_for(context) ? last_error.message : "";
}

const char* last_error_field(const heddle_context* context) noexcept {
  return is_for(context) ? last_error.field : "";
}

}  // namespace heddle
