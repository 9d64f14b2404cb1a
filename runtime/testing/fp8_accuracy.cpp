#include "runtime/testing/fp8_accuracy.hpp"

#include <cmath>

#include "runtime/testing/element.hpp"
#include "runtime/testing/layout.hpp"
#include "runtime/testing/random.hpp"

namespace heddle {
namespace {

constexpr double kOutlierShare = 0.001;
constexpr double kOutlierDeviation = 10;  // N(0, 100)
constexpr int kLoudColumns = 3;
constexpr double kLoudness = 20;
constexpr double kKeyOffset = 3;

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : normal_(seed), uniform_(~seed) {}

  double normal() { return normal_.next(); }
  double with_outliers() {
    const double number = normal();
    return uniform_.next() < kOutlierShare ? number + kOutlierDeviation * normal() : number;
  }
  double heavy_tailed() {
    const double number = normal();
    double squares = 0;
    for (int i = 0; i < 3; ++i) squares += std::pow(normal(), 2);
    return number / std::sqrt(squares / 3);
  }

 private:
  NormalSource normal_;
  UniformSource uniform_;
};

template <class Number>
std::vector<float> fill(const TensorShape& shape, Number&& number) {
  std::vector<float> numbers(shape.elements());
  for (float& entry : numbers) entry = static_cast<float>(number());
  return numbers;
}

/// A number of its own for each column of each head.
template <class Change>
void change_columns(std::vector<float>& numbers, const TensorShape& shape, Change&& change) {
  const std::size_t columns = static_cast<std::size_t>(shape.columns);
  const std::size_t head = columns * static_cast<std::size_t>(shape.rows);
  for (std::size_t begin = 0; begin < numbers.size(); begin += head) {
    for (std::size_t column = 0; column < columns; ++column) {
      const auto apply = change(static_cast<int>(column));
      for (std::size_t i = begin + column; i < begin + head; i += columns) {
        numbers[i] = static_cast<float>(apply(static_cast<double>(numbers[i])));
      }
    }
  }
}

double root_mean_square(const std::vector<double>& left, const std::vector<double>& right) {
  double squares = 0;
  for (std::size_t i = 0; i < left.size(); ++i) squares += std::pow(left[i] - right[i], 2);
  return std::sqrt(squares / static_cast<double>(left.size()));
}

HostTensors make_tensors(const Problem& problem, const InputNumbers& numbers,
                         const QuantiseRecipe& recipe) {
  if (problem.variant.dtype == DataType::kE4m3) return quantise(problem, numbers, recipe);
  return encode(problem, numbers, {});
}

Problem in_form(Problem problem, const Variant& form) {
  problem.variant.dtype = form.dtype;
  problem.variant.scales = form.scales;
  return problem;
}

}  // namespace

InputNumbers draw_numbers(const Problem& problem, InputDistribution distribution,
                          std::uint64_t seed) {
  const TensorShape queries = query_shape(problem);
  const TensorShape keys = key_value_shape(problem);
  Draw draw(seed);
  const auto all = [&](auto&& number) {
    return InputNumbers{fill(queries, number), fill(keys, number), fill(keys, number)};
  };
  InputNumbers numbers;
  switch (distribution) {
    case InputDistribution::kOutliers:
      numbers = all([&] { return draw.with_outliers(); });
      break;
    case InputDistribution::kHeavyTails:
      numbers = all([&] { return draw.heavy_tailed(); });
      break;
    default:
      numbers = all([&] { return draw.normal(); });
  }
  const int distance = problem.variant.head_dim / kLoudColumns;
  const auto louder = [&](int column) {
    const double factor = column % distance == 1 ? kLoudness : 1;
    return [factor](double number) { return factor * number; };
  };
  const auto off = [&draw](double deviation) {
    return [&draw, deviation](int) {
      return [offset = deviation * draw.normal()](double number) { return number + offset; };
    };
  };
  if (distribution == InputDistribution::kLoudChannels) {
    change_columns(numbers.query, queries, louder);
    change_columns(numbers.key, keys, louder);
  }
  if (distribution == InputDistribution::kOffsets) {
    change_columns(numbers.key, keys, off(kKeyOffset));
    change_columns(numbers.value, keys, off(1));
  }
  for (auto* tensor : {&numbers.query, &numbers.key, &numbers.value}) {
    for (float& number : *tensor) number = round_to_element(DataType::kFp16, number);
  }
  return numbers;
}

std::vector<AccuracyRecipe> accuracy_recipes() {
  std::vector<AccuracyRecipe> recipes{{"fp16", {.dtype = DataType::kFp16}, {}},
                                      {"bf16", {.dtype = DataType::kBf16}, {}}};
  const auto add = [&](ScaleKind scales, const QuantiseRecipe& recipe) {
    std::string name = "e4m3, scales by " + std::string(enum_name(scales));
    if (recipe.rotate) name += ", rotated";
    if (recipe.key_mean) name += ", K's mean off";
    if (recipe.value_mean) name += ", V's mean off";
    recipes.push_back({name, {.dtype = DataType::kE4m3, .scales = scales}, recipe});
  };
  for (const bool rotate : {false, true}) {
    for (const auto& [scales, name] : EnumNames<ScaleKind>::names) add(scales, {.rotate = rotate});
  }
  add(ScaleKind::kBlock, {.rotate = true, .key_mean = true});
  add(ScaleKind::kBlock, {.rotate = true, .value_mean = true});
  for (const ScaleKind scales : {ScaleKind::kHead, ScaleKind::kBlock, ScaleKind::kToken}) {
    add(scales, {.rotate = true, .key_mean = true, .value_mean = true});
  }
  return recipes;
}

AccuracyTable measure_accuracy(const Problem& problem, std::uint64_t seed,
                               const std::function<void(int, int)>& progress) {
  const std::vector<AccuracyRecipe> recipes = accuracy_recipes();
  AccuracyTable table;
  for (const AccuracyRecipe& recipe : recipes) table.rows.push_back({recipe.name, {}});
  const int total = static_cast<int>(recipes.size() * EnumNames<InputDistribution>::names.size());
  int done = 0;
  for (const auto& [distribution, name] : EnumNames<InputDistribution>::names) {
    const InputNumbers numbers = draw_numbers(problem, distribution, seed);
    const Problem exact_problem = in_form(problem, {.dtype = DataType::kFp16});
    const AttentionResult exact = reference_attention(
        exact_problem, encode(exact_problem, numbers, {}), ReferenceMode::kFloat64);
    table.output_rms.push_back(
        root_mean_square(exact.output, std::vector<double>(exact.output.size())));
    for (std::size_t i = 0; i < recipes.size(); ++i) {
      const Problem made = in_form(problem, recipes[i].form);
      const AttentionResult result = reference_attention(
          made, make_tensors(made, numbers, recipes[i].quantise), ReferenceMode::kBaseline);
      table.rows[i].rms_errors.push_back(root_mean_square(result.output, exact.output));
      progress(++done, total);
    }
  }
  return table;
}

}  // namespace heddle
