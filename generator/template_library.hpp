#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace heddle {

struct EmbeddedTemplate {
  std::string_view name;  ///< as #included: "kernel/fa2.cuh"
  std::string_view text;
};

/// Every device header of templates/, embedded at build time: nothing is read from disk.
std::span<const EmbeddedTemplate> embedded_templates();
std::optional<std::string_view> find_template(std::string_view name);

}  // namespace heddle
