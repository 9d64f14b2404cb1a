#include "runtime/testing/cases.hpp"

#include <array>

namespace heddle {
namespace {

/// Every kind of scales with both layouts of V, and both types of O among each.
std::vector<Variant> e4m3_forms() {
  std::vector<Variant> forms;
  for (const auto& [layout, layout_name] : EnumNames<ValueLayout>::names) {
    for (const auto& [scales, scales_name] : EnumNames<ScaleKind>::names) {
      const DataType output = forms.size() % 3 == 1 ? DataType::kFp16 : DataType::kBf16;
      forms.push_back({.dtype = DataType::kE4m3,
                       .output_dtype = output,
                       .scales = scales,
                       .value_layout = layout});
    }
  }
  return forms;
}

}  // namespace

std::vector<CaseInput> all_cases(const Variant& form) {
  std::vector<CaseInput> cases = masking_cases(form);
  for (auto more : {numerics_cases(form), shape_cases(form), scale_cases(form)}) {
    cases.insert(cases.end(), std::make_move_iterator(more.begin()),
                 std::make_move_iterator(more.end()));
  }
  return cases;
}

std::vector<CaseInput> all_cases(DataType dtype) {
  if (dtype != DataType::kE4m3) return all_cases(Variant{.dtype = dtype});
  std::vector<CaseInput> cases;
  const std::vector<Variant> forms = e4m3_forms();
  for (std::size_t form = 0; form < forms.size(); ++form) {
    std::vector<CaseInput> all = all_cases(forms[form]);
    for (std::size_t i = form; i < all.size(); i += forms.size()) {
      cases.push_back(std::move(all[i]));
    }
  }
  return cases;
}

}  // namespace heddle
