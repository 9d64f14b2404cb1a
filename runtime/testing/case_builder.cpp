#include "runtime/testing/case_builder.hpp"

#include "runtime/testing/element.hpp"

namespace heddle {
namespace {

constexpr std::uint64_t kSeed = 20;

/// Rewrites contiguous numbers one by one.
void adjust(std::vector<float>& numbers, const TensorShape& shape, const Adjust& rule) {
  if (!rule) return;
  std::size_t i = 0;
  for (int head = 0; head < shape.batch * shape.heads; ++head) {
    for (int row = 0; row < shape.rows; ++row) {
      for (int column = 0; column < shape.columns; ++column, ++i) {
        const ElementIndex index{head % shape.heads, row, column};
        numbers[i] = static_cast<float>(rule(index, static_cast<double>(numbers[i])));
      }
    }
  }
}

void adjust_all(InputNumbers& numbers, const Problem& problem, const CaseRecipe& recipe) {
  const TensorShape keys = key_value_shape(problem);
  adjust(numbers.query, query_shape(problem), recipe.query);
  adjust(numbers.key, keys, recipe.key);
  adjust(numbers.value, keys, recipe.value);
}

struct Draft {
  CaseInput input;
  InputNumbers numbers;
};

Draft draft_case(const CaseRecipe& recipe) {
  Draft draft;
  Problem& problem = draft.input.problem;
  draft.input.name = recipe.name;
  problem.variant = recipe.form;
  problem.variant.head_dim = recipe.head_dim;
  problem.variant.mask = recipe.mask;
  problem.sizes = recipe.sizes;
  draft.numbers = make_numbers(problem, InputKind::kNormal, kSeed);
  if (recipe.form.dtype != DataType::kE4m3) {
    for (auto* tensor : {&draft.numbers.query, &draft.numbers.key, &draft.numbers.value}) {
      for (float& number : *tensor) number = round_to_element(recipe.form.dtype, number);
    }
  }
  adjust_all(draft.numbers, problem, recipe);
  draft.input.tensors =
      encode(problem, draft.numbers,
             random_scales(problem, draft.numbers, ScaleChoice::kPowersOfTwo, kSeed));
  return draft;
}

}  // namespace

CaseInput build_case(const CaseRecipe& recipe) {
  return draft_case(recipe).input;
}

CaseInput build_with_clean_twin(const CaseRecipe& recipe, const CaseRecipe& odd) {
  Draft draft = draft_case(recipe);
  CaseInput& input = draft.input;
  adjust_all(draft.numbers, input.problem, odd);
  input.clean = std::move(input.tensors);
  input.tensors = encode(input.problem, draft.numbers, input.clean->scales);
  return std::move(input);
}

bool has_infinity(const Variant& form) {
  return form.dtype != DataType::kE4m3;
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
