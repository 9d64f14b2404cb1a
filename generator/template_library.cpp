#include "generator/template_library.hpp"

#include <algorithm>

namespace heddle {

std::optional<std::string_view> find_template(std::string_view name) {
  const auto files = embedded_templates();
  const auto found = std::find_if(files.begin(), files.end(),
                                  [&](const EmbeddedTemplate& file) { return file.name == name; });
  if (found == files.end()) return std::nullopt;
  return found->text;
}

}  // namespace heddle
