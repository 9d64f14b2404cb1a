#pragma once

#include <span>

#include "generator/template_library.hpp"

namespace heddle {

/// The host twins of templates/instruction/ and what goes with them.
std::span<const EmbeddedTemplate> embedded_host_headers();

}  // namespace heddle
