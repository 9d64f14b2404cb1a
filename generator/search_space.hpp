#pragma once

#include <span>
#include <string_view>

namespace heddle {

/// The values that one knob of a family is tried with, where the problem is of one of these dtypes
/// and masks (empty = any). Lists are comma-separated, families and values are as YAML writes them.
struct SearchSpaceLine {
  std::string_view family;
  std::string_view knob;
  bool is_switch = false;  ///< else of the tiles, which come first
  std::string_view dtypes;
  std::string_view masks;
  std::string_view values;
};

/// search_space.yaml, generated from it at build time. Lines of one knob follow each other, and the
/// first that fits counts.
std::span<const SearchSpaceLine> search_space();

}  // namespace heddle
