#include "tests/testing/quantised.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "runtime/testing/element.hpp"
#include "runtime/testing/inputs.hpp"
#include "runtime/testing/scales.hpp"

namespace heddle {
namespace {

constexpr std::uint64_t kInputSeed = 3;

QuantiseRecipe reference_recipe(const QuantiserCase& subject) {
  const QuantiserRecipe& recipe = subject.recipe;
  return {recipe.rotate, recipe.key_mean, recipe.value_mean, subject.seed};
}

/// "keys[17] is 3.000000, not 4.000000".
std::string difference(const std::string& name, std::size_t index, double actual, double expected) {
  return name + "[" + std::to_string(index) + "] is " + std::to_string(actual) + ", not " +
         std::to_string(expected);
}

/// Within a millionth of themselves, or of `size` where that is more.
std::string check_numbers(const std::string& name, const std::vector<float>& actual,
                          const std::vector<float>& expected, double size) {
  if (actual.size() != expected.size()) return name + " has another length";
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const auto given = static_cast<double>(actual[i]);
    const auto wanted = static_cast<double>(expected[i]);
    if (given == wanted) continue;  // infinities
    const double allowed = 1e-6 * std::max(size, std::abs(wanted));
    const bool right = std::isnan(wanted) ? std::isnan(given) : std::abs(given - wanted) <= allowed;
    if (!right) return difference(name, i, given, wanted);
  }
  return {};
}

bool is_nearest(double given, double wanted) {
  constexpr double kSlack = 2e-4;  // of an element, of which the smallest step is 2e-3
  if (!std::isfinite(wanted)) return std::isnan(given);
  const auto nearest =
      static_cast<double>(round_to_element(DataType::kE4m3, static_cast<float>(wanted)));
  return std::abs(given - wanted) <= std::abs(nearest - wanted) + kSlack;
}

/// A tensor as rows, its numbers before they were rounded, and what they are over.
struct Rounded {
  const std::vector<std::uint16_t>& elements;
  const std::vector<double>& numbers;
  TensorShape shape;
  ScaleShape scale_shape;
  const std::vector<float>& scales;
};

std::string check_elements(const std::string& name, const Rounded& tensor) {
  if (tensor.elements.size() != tensor.numbers.size()) return name + " has another length";
  const TensorShape& shape = tensor.shape;
  const auto columns = static_cast<std::size_t>(shape.columns);
  for (std::size_t i = 0; i < tensor.elements.size(); ++i) {
    const auto row = static_cast<int>(i / columns);
    const int head = row / shape.rows;
    const float scale = tensor.scales[tensor.scale_shape.index(
        head / shape.heads, head % shape.heads, row % shape.rows)];
    const double wanted = tensor.numbers[i] / static_cast<double>(scale);
    const auto given = static_cast<double>(e4m3_to_float(tensor.elements[i]));
    if (!is_nearest(given, wanted)) return difference(name, i, given, wanted);
  }
  return {};
}

/// V as rows, whatever its layout; words where a place past the last key is not 0.
std::string value_rows(const Problem& problem, const std::vector<std::uint16_t>& laid_out,
                       std::vector<std::uint16_t>& rows) {
  const TensorShape keys = key_value_shape(problem);
  std::vector<std::uint16_t> places(keys.elements());  // + 1: zeros are padding
  if (places.size() >= 0xffff) return "values: more than 16 bits number";
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = static_cast<std::uint16_t>(i + 1);
  const std::vector<std::uint16_t> where = lay_out_values(problem, places);
  if (where.size() != laid_out.size()) return "values has another length";
  rows.resize(places.size());
  for (std::size_t i = 0; i < where.size(); ++i) {
    if (where[i] != 0) {
      rows[where[i] - 1u] = laid_out[i];
    } else if (laid_out[i] != 0) {
      return difference("values' padding", i, laid_out[i], 0);
    }
  }
  return {};
}

std::string check_scales_of(const HostScales& made, const HostScales& expected) {
  struct Row {
    const char* name;
    std::vector<float> HostScales::*values;
    double size;
  };
  for (const Row& row : {Row{"query scales", &HostScales::query_descale, 0},
                         Row{"key scales", &HostScales::key_descale, 0},
                         Row{"value scales", &HostScales::value_descale, 0},
                         Row{"value means", &HostScales::value_mean, 1},
                         Row{"shifts", &HostScales::log_sum_exp_shift, 3}}) {
    std::string found = check_numbers(row.name, made.*row.values, expected.*row.values, row.size);
    if (!found.empty()) return found;
  }
  return {};
}

template <class Number>
bool same_bits(const std::vector<Number>& left, const std::vector<Number>& right) {
  return left.size() == right.size() &&
         (left.empty() ||
          std::memcmp(left.data(), right.data(), left.size() * sizeof(Number)) == 0);
}

}  // namespace

InputNumbers quantiser_numbers(const QuantiserCase& subject) {
  InputNumbers numbers = make_numbers(subject.problem, InputKind::kNormal, kInputSeed);
  const auto columns = static_cast<std::size_t>(subject.problem.variant.head_dim);
  for (std::size_t i = 0; i < numbers.key.size(); ++i) {
    numbers.key[i] += static_cast<float>(i % columns % 5) - 1;
    numbers.value[i] += static_cast<float>(i % columns % 3);
  }
  for (auto* tensor : {&numbers.query, &numbers.key, &numbers.value}) {
    for (float& number : *tensor) number = round_to_element(subject.dtype, number);
  }
  return numbers;
}

HostTensors quantiser_inputs(const QuantiserCase& subject, const InputNumbers& numbers) {
  Problem original = subject.problem;
  original.variant = {.dtype = subject.dtype, .head_dim = subject.problem.variant.head_dim};
  return encode(original, numbers, {});
}

std::string check_quantised(const QuantiserCase& subject, const InputNumbers& numbers,
                            const HostTensors& made) {
  const Problem& problem = subject.problem;
  const QuantiseRecipe recipe = reference_recipe(subject);
  const HostScales& scales = made.scales;
  std::string found = check_scales_of(scales, quantise(problem, numbers, recipe).scales);
  std::vector<std::uint16_t> values;
  if (found.empty()) found = value_rows(problem, made.value, values);
  if (!found.empty()) return found;
  const PreparedInputs prepared = prepare_inputs(problem, numbers, recipe);
  const TensorShape keys = key_value_shape(problem);
  found = check_elements("queries", {made.query, prepared.query, query_shape(problem),
                                     query_scale_shape(problem), scales.query_descale});
  if (!found.empty()) return found;
  found = check_elements(
      "keys", {made.key, prepared.key, keys, key_scale_shape(problem), scales.key_descale});
  if (!found.empty()) return found;
  return check_elements(
      "values", {values, prepared.value, keys, value_scale_shape(problem), scales.value_descale});
}

bool same_quantised(const HostTensors& left, const HostTensors& right) {
  const HostScales& a = left.scales;
  const HostScales& b = right.scales;
  return left.query == right.query && left.key == right.key && left.value == right.value &&
         same_bits(a.query_descale, b.query_descale) && same_bits(a.key_descale, b.key_descale) &&
         same_bits(a.value_descale, b.value_descale) && same_bits(a.value_mean, b.value_mean) &&
         same_bits(a.log_sum_exp_shift, b.log_sum_exp_shift);
}

}  // namespace heddle
