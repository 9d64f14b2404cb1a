#include "runtime/testing/case_builder.hpp"

#include "runtime/testing/element.hpp"

namespace heddle {
namespace {

constexpr std::uint64_t kSeed = 20;

/// Rewrites contiguous elements one by one.
void adjust(std::vector<std::uint16_t>& elements, const TensorShape& shape, DataType dtype,
            const Adjust& rule) {
  if (!rule) return;
  std::size_t i = 0;
  for (int head = 0; head < shape.batch * shape.heads; ++head) {
    for (int row = 0; row < shape.rows; ++row) {
      for (int column = 0; column < shape.columns; ++column, ++i) {
        const ElementIndex index{head % shape.heads, row, column};
        const double normal = static_cast<double>(element_to_float(dtype, elements[i]));
        elements[i] = element_from_float(dtype, static_cast<float>(rule(index, normal)));
      }
    }
  }
}

void adjust_all(HostTensors& tensors, const Problem& problem, const CaseRecipe& recipe) {
  const TensorShape keys = key_value_shape(problem);
  adjust(tensors.query, query_shape(problem), recipe.dtype, recipe.query);
  adjust(tensors.key, keys, recipe.dtype, recipe.key);
  adjust(tensors.value, keys, recipe.dtype, recipe.value);
}

}  // namespace

CaseInput build_case(const CaseRecipe& recipe) {
  CaseInput input;
  input.name = recipe.name;
  input.problem.variant.dtype = recipe.dtype;
  input.problem.variant.head_dim = recipe.head_dim;
  input.problem.variant.mask = recipe.mask;
  input.problem.sizes = recipe.sizes;
  input.tensors = make_contiguous_inputs(input.problem, InputKind::kNormal, kSeed);
  adjust_all(input.tensors, input.problem, recipe);
  return input;
}

CaseInput build_with_clean_twin(CaseRecipe recipe, const CaseRecipe& odd) {
  CaseInput input = build_case(recipe);
  input.clean = input.tensors;
  recipe.query = odd.query;
  recipe.key = odd.key;
  recipe.value = odd.value;
  adjust_all(input.tensors, input.problem, recipe);
  return input;
}

Adjust first_column(std::function<double(int row)> value) {
  return [value = std::move(value)](const ElementIndex& index, double) {
    return index.column == 0 ? value(index.row) : 0.0;
  };
}

Adjust constant(double value) {
  return [value](const ElementIndex&, double) { return value; };
}

}  // namespace heddle
