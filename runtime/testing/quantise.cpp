#include "runtime/testing/quantise.hpp"

#include <algorithm>
#include <cmath>

#include "runtime/testing/element.hpp"
#include "runtime/testing/layout.hpp"
#include "runtime/testing/scales.hpp"
#include "templates/quantiser_layout.cuh"

namespace heddle {
namespace {

/// One tensor on its way: [batch, head, row, column].
struct Draft {
  TensorShape shape;
  std::vector<double> numbers;

  Draft(const TensorShape& of, const std::vector<float>& from)
      : shape(of), numbers(from.begin(), from.end()) {}
  Draft(const TensorShape& of, std::vector<double> from) : shape(of), numbers(std::move(from)) {}

  std::size_t heads() const { return static_cast<std::size_t>(shape.batch) * shape.heads; }
  double* row(std::size_t head, int row) {
    return &numbers[(head * shape.rows + static_cast<std::size_t>(row)) * shape.columns];
  }
};

/// Takes each column's mean over a head's rows off it. The means, in fp32 as they are stored. What
/// is not finite counts for nothing there: a key that a row may not see must not reach it.
std::vector<float> subtract_means(Draft& draft) {
  std::vector<float> means;
  for (std::size_t head = 0; head < draft.heads(); ++head) {
    for (int column = 0; column < draft.shape.columns; ++column) {
      double sum = 0;
      for (int row = 0; row < draft.shape.rows; ++row) {
        const double number = draft.row(head, row)[column];
        if (std::isfinite(number)) sum += number;
      }
      const auto mean = static_cast<float>(sum / std::max(draft.shape.rows, 1));
      for (int row = 0; row < draft.shape.rows; ++row) draft.row(head, row)[column] -= mean;
      means.push_back(mean);
    }
  }
  return means;
}

/// The fast Walsh-Hadamard transform of `count` numbers, scaled so that it keeps lengths.
void transform(double* numbers, int count) {
  for (int step = 1; step < count; step *= 2) {
    for (int i = 0; i < count; ++i) {
      if ((i & step) != 0) continue;
      const double left = numbers[i];
      const double right = numbers[i + step];
      numbers[i] = left + right;
      numbers[i + step] = left - right;
    }
  }
  const double factor = 1 / std::sqrt(static_cast<double>(count));
  for (int i = 0; i < count; ++i) numbers[i] *= factor;
}

void rotate(Draft& draft, std::uint32_t seed) {
  const int together = rotation_columns(draft.shape.columns);
  for (std::size_t head = 0; head < draft.heads(); ++head) {
    for (int row = 0; row < draft.shape.rows; ++row) {
      double* numbers = draft.row(head, row);
      for (int column = 0; column < draft.shape.columns; ++column) {
        if (rotation_negates(seed, column)) numbers[column] = -numbers[column];
      }
      for (int begin = 0; begin < draft.shape.columns; begin += together) {
        transform(numbers + begin, together);
      }
    }
  }
}

/// Calls visit(scale's index, row) for every row.
template <class Visit>
void for_each_row(Draft& draft, const ScaleShape& scales, Visit&& visit) {
  for (int batch = 0; batch < draft.shape.batch; ++batch) {
    for (int head = 0; head < draft.shape.heads; ++head) {
      for (int row = 0; row < draft.shape.rows; ++row) {
        const std::size_t flat_head =
            static_cast<std::size_t>(batch) * draft.shape.heads + static_cast<std::size_t>(head);
        visit(scales.index(batch, head, row), draft.row(flat_head, row));
      }
    }
  }
}

std::vector<float> scales_of(Draft& draft, const ScaleShape& shape) {
  std::vector<double> largest(shape.count());
  for_each_row(draft, shape, [&](std::size_t scale, const double* row) {
    for (int column = 0; column < draft.shape.columns; ++column) {
      if (std::isfinite(row[column]))
        largest[scale] = std::max(largest[scale], std::abs(row[column]));
    }
  });
  std::vector<float> scales;
  for (const double magnitude : largest) {
    const auto scale = static_cast<float>(magnitude / static_cast<double>(kLargestE4m3));
    scales.push_back(scale > 0 ? scale : 1);
  }
  return scales;
}

std::vector<std::uint16_t> round(Draft& draft, const ScaleShape& shape,
                                 const std::vector<float>& scales) {
  std::vector<std::uint16_t> elements;
  elements.reserve(draft.numbers.size());
  for_each_row(draft, shape, [&](std::size_t scale, const double* row) {
    for (int column = 0; column < draft.shape.columns; ++column) {
      const double number = row[column] / static_cast<double>(scales[scale]);
      // e4m3 has no infinity; NaN is what says that something was beyond its numbers.
      const auto element = static_cast<float>(std::isfinite(number) ? number : NAN);
      elements.push_back(e4m3_from_float(element));
    }
  });
  return elements;
}

/// What scale * q k lost by K's mean, for each query.
std::vector<float> shifts(const Problem& problem, const std::vector<float>& queries,
                          const std::vector<float>& key_means) {
  const Sizes& sizes = problem.sizes;
  const int columns = problem.variant.head_dim;
  const int group = sizes.heads / sizes.resolved_kv_heads();
  const double scale = resolved_scale(problem.variant, sizes);
  std::vector<float> shifts;
  for (std::size_t row = 0; row * columns < queries.size(); ++row) {
    const std::size_t kv_head = row / sizes.seqlen_q / group;  // heads of a batch are whole groups
    double sum = 0;
    for (int column = 0; column < columns; ++column) {
      sum += static_cast<double>(queries[row * columns + column]) *
             static_cast<double>(key_means[kv_head * columns + column]);
    }
    shifts.push_back(static_cast<float>(scale * sum));
  }
  return shifts;
}

}  // namespace

PreparedInputs prepare_inputs(const Problem& problem, const InputNumbers& numbers,
                              const QuantiseRecipe& recipe) {
  const TensorShape keys = key_value_shape(problem);
  Draft query(query_shape(problem), numbers.query);
  Draft key(keys, numbers.key);
  Draft value(keys, numbers.value);
  PreparedInputs prepared;
  if (recipe.key_mean) {
    prepared.taken.log_sum_exp_shift = shifts(problem, numbers.query, subtract_means(key));
  }
  if (recipe.value_mean) prepared.taken.value_mean = subtract_means(value);
  if (recipe.rotate) {
    rotate(query, recipe.seed);
    rotate(key, recipe.seed);
  }
  prepared.query = std::move(query.numbers);
  prepared.key = std::move(key.numbers);
  prepared.value = std::move(value.numbers);
  return prepared;
}

HostTensors quantise(const Problem& problem, const InputNumbers& numbers,
                     const QuantiseRecipe& recipe) {
  const TensorShape keys = key_value_shape(problem);
  PreparedInputs prepared = prepare_inputs(problem, numbers, recipe);
  HostTensors tensors;
  HostScales& scales = tensors.scales;
  scales = std::move(prepared.taken);
  const auto finish = [](const TensorShape& shape, std::vector<double>& ready,
                         const ScaleShape& scale_shape, std::vector<float>& factors) {
    Draft draft(shape, std::move(ready));
    factors = scales_of(draft, scale_shape);
    return round(draft, scale_shape, factors);
  };
  tensors.query = finish(query_shape(problem), prepared.query, query_scale_shape(problem),
                         scales.query_descale);
  tensors.key = finish(keys, prepared.key, key_scale_shape(problem), scales.key_descale);
  tensors.value = lay_out_values(
      problem, finish(keys, prepared.value, value_scale_shape(problem), scales.value_descale));
  return tensors;
}

}  // namespace heddle
