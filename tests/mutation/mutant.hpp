#pragma once
// One change to one template header.

#include <string>
#include <string_view>
#include <vector>

namespace heddle::mutation {

struct Mutant {
  std::string file;  ///< as #included: "part/softmax.cuh"
  std::string rule;
  int line = 0;
  int offset = 0;  ///< what is replaced, in the file
  int length = 0;
  std::string replacement;
  std::string before;  ///< the lines concerned, blanks collapsed
  std::string after;
  int ordinal = 0;  ///< counts equal keys of a file from 1; 0 where the key is alone

  /// Does not change with the lines above: "part/softmax.cuh bound: `a < b` -> `a < b - 1` #2".
  std::string key() const;
  /// The key with the line: "part/softmax.cuh:57 bound: …".
  std::string name() const;
  std::string apply(const std::string& text) const;
};

/// Every mutant of a header, in order of place.
std::vector<Mutant> make_mutants(const std::string& file, const std::string& text);

/// The rules' names, as they appear in mutants and tables.
const std::vector<std::string_view>& rule_names();

}  // namespace heddle::mutation
