#include "runtime/testing/encode.hpp"

#include <algorithm>
#include <cmath>

#include "runtime/testing/element.hpp"
#include "runtime/testing/layout.hpp"
#include "runtime/testing/random.hpp"
#include "runtime/testing/scales.hpp"

namespace heddle {
namespace {

/// What the largest number becomes under a scale of 1: all scales then keep it below 448.
constexpr double kLargestElement = 112;

/// By how much numbers must shrink at least. A power of two, so that it rounds nothing.
double needed_factor(const std::vector<float>& numbers) {
  float largest = 0;
  for (const float number : numbers) {
    if (std::isfinite(number)) largest = std::max(largest, std::abs(number));
  }
  const double over = static_cast<double>(largest) / kLargestElement;
  return over <= 1 ? 1 : std::exp2(std::ceil(std::log2(over)));
}

std::vector<float> draw(std::size_t count, double least, ScaleChoice choice,
                        UniformSource& source) {
  std::vector<float> scales(count);
  for (float& scale : scales) {
    const double uniform = source.next();
    const double power = choice == ScaleChoice::kAny ? 3 * uniform - 1.5 : std::floor(3 * uniform);
    scale = static_cast<float>(least * std::exp2(power));
  }
  return scales;
}

std::vector<std::uint16_t> round_all(DataType type, const std::vector<float>& numbers,
                                     const TensorShape& shape, const ScaleShape& scale_shape,
                                     const std::vector<float>& scales) {
  std::vector<std::uint16_t> elements;
  elements.reserve(numbers.size());
  for (int batch = 0; batch < shape.batch; ++batch) {
    for (int head = 0; head < shape.heads; ++head) {
      for (int row = 0; row < shape.rows; ++row) {
        const float scale = factor_at(scales, scale_shape.index(batch, head, row));
        for (int column = 0; column < shape.columns; ++column) {
          elements.push_back(element_from_float(type, numbers[elements.size()] / scale));
        }
      }
    }
  }
  return elements;
}

}  // namespace

HostScales random_scales(const Problem& problem, const InputNumbers& numbers, ScaleChoice choice,
                         std::uint64_t seed) {
  if (problem.variant.dtype != DataType::kE4m3) return {};
  UniformSource source(seed);
  const auto scales = [&](const ScaleShape& shape, const std::vector<float>& tensor) {
    return draw(shape.count(), needed_factor(tensor), choice, source);
  };
  HostScales drawn;
  drawn.query_descale = scales(query_scale_shape(problem), numbers.query);
  drawn.key_descale = scales(key_scale_shape(problem), numbers.key);
  drawn.value_descale = scales(value_scale_shape(problem), numbers.value);
  return drawn;
}

HostTensors encode(const Problem& problem, const InputNumbers& numbers, HostScales scales) {
  const DataType type = problem.variant.dtype;
  const TensorShape keys = key_value_shape(problem);
  HostTensors tensors;
  tensors.query = round_all(type, numbers.query, query_shape(problem), query_scale_shape(problem),
                            scales.query_descale);
  tensors.key = round_all(type, numbers.key, keys, key_scale_shape(problem), scales.key_descale);
  tensors.value = lay_out_values(
      problem,
      round_all(type, numbers.value, keys, value_scale_shape(problem), scales.value_descale));
  tensors.scales = std::move(scales);
  return tensors;
}

}  // namespace heddle
