#pragma once
// search_space.yaml to C++, at build time: the library itself reads no YAML to know its knobs.

#include <string>
#include <vector>

namespace heddle {

/// SearchSpaceLine before it is embedded.
struct SpaceKnob {
  std::string family;
  std::string knob;
  bool is_switch = false;
  std::string dtypes, masks, values;
};

/// Throws kInvalidArgument naming file, line, family, knob, value and remedy for what is not YAML
/// of this form, for unknown knobs and values, for a knob without effect in its family, and for one
/// that has an effect there and is not mentioned.
std::vector<SpaceKnob> read_search_space(const std::string& text, const std::string& file_name);

/// A source that defines search_space().
std::string search_space_source(const std::vector<SpaceKnob>& knobs);

}  // namespace heddle
