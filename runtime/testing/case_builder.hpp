#pragma once
// Shared by the files that build cases; not for other users.

#include <functional>

#include "runtime/testing/cases.hpp"
#include "runtime/testing/inputs.hpp"

namespace heddle {

struct ElementIndex {
  int head;
  int row;
  int column;
};
/// The value of an element, given a random one to keep or replace.
using Adjust = std::function<double(const ElementIndex& index, double normal)>;

/// What a case is made of. Absent adjustments leave N(0, 1).
struct CaseRecipe {
  std::string name;
  Variant form;  ///< whose element types, scales and value_layout the case takes
  int head_dim = 64;
  MaskKind mask = MaskKind::kFull;
  Sizes sizes;
  Adjust query, key, value;
};

/// Contiguous tensors; the same random numbers for the same shapes. Scales are powers of two, so
/// that e4m3 too holds the values worked out by hand.
CaseInput build_case(const CaseRecipe& recipe);

/// Also fills `clean`: the case as it is without the adjustments of `odd`.
CaseInput build_with_clean_twin(const CaseRecipe& recipe, const CaseRecipe& odd);

/// `value` in column 0, 0 elsewhere: every dot product is then a product of two numbers.
Adjust first_column(std::function<double(int row)> value);
Adjust constant(double value);

/// Whether the element type has an infinity.
bool has_infinity(const Variant& form);

}  // namespace heddle
