#include "runtime/testing/inputs.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace heddle {
namespace {

constexpr double kLogitGain = 8.0;
constexpr double kOneHotLogit = 16.0;
constexpr int kSpikeDistance = 64;
constexpr int kJumpColumns = 7;

/// Calls value(row, column) for every element, rows counted within their head.
template <class Value>
std::vector<float> fill(const TensorShape& shape, Value&& value) {
  std::vector<float> numbers;
  numbers.reserve(shape.elements());
  const long long heads = static_cast<long long>(shape.batch) * shape.heads;
  for (long long row = 0; row < heads * shape.rows; ++row) {
    for (int column = 0; column < shape.columns; ++column) {
      numbers.push_back(static_cast<float>(value(static_cast<int>(row % shape.rows), column)));
    }
  }
  return numbers;
}

/// By which a score is ln 2.
double exact_unit(const Problem& problem) {
  return std::numbers::ln2 / resolved_scale(problem.variant, problem.sizes);
}

/// Two columns of each query are one unit, K's are 0 to -3: scores of 0 to -6. V is -8 to 8.
InputNumbers exact_numbers(const TensorShape& queries, const TensorShape& keys, double unit,
                           UniformSource source) {
  const auto whole = [&source](int count) { return std::floor(count * source.next()); };
  const auto asks = [&queries, unit](int row, int column) {
    const int first = row % queries.columns;
    const int second = (first + 1 + row / queries.columns * 3) % queries.columns;
    return column == first || column == second ? unit : 0.0;
  };
  return {fill(queries, asks), fill(keys, [&](int, int) { return -whole(4); }),
          fill(keys, [&](int, int) { return whole(17) - 8; })};
}

}  // namespace

InputNumbers make_numbers(const Problem& problem, InputKind kind, std::uint64_t seed, double rise) {
  const TensorShape queries = query_shape(problem);
  const TensorShape keys = key_value_shape(problem);
  const double scale = resolved_scale(problem.variant, problem.sizes);
  NormalSource source(seed);
  const auto normal = [&](int, int) { return source.next(); };
  const auto one_hot = [&](double height) {
    return [&queries, height](int row, int column) {
      return row % queries.columns == column ? height : 0.0;
    };
  };
  // Column 0 carries the rise, the others ordinary noise of standard deviation about 1.
  const auto with_first_column = [&](auto first) {
    return [&source, first](int row, int column) {
      const double noise = source.next();
      return column == 0 ? first(row) : noise;
    };
  };

  // The last column: a sum that begins with the largest product rounds all others at its size, by
  // more than a plain fp32 sum may here.
  const auto with_last_column = [&](auto last) {
    return [&source, &keys, last](int row, int column) {
      const double noise = source.next();
      return column == keys.columns - 1 ? last(row) : noise;
    };
  };

  const auto risen = [&keys, rise](int row) { return rise * (row + 1) / keys.rows; };
  const auto spike = [&](int row) {
    return row % kSpikeDistance == kSpikeDistance / 2 ? risen(row) : 0.0;
  };

  // Query i asks for column i % 8, of which key columns there are seven.
  const auto asks = [&](int row, int column) {
    const double noise = source.next();
    if (column >= kJumpColumns) return noise;
    return row % (kJumpColumns + 1) == column ? 1.0 / scale : 0.0;
  };
  const auto jumps = [&](int row, int column) {
    const double noise = source.next();
    if (column >= kJumpColumns) return noise;
    const bool is_behind = row >= keys.rows * (column + 1) / (kJumpColumns + 1);
    return is_behind == (rise > 0) ? std::abs(rise) : 0.0;
  };

  InputNumbers numbers;
  switch (kind) {
    case InputKind::kNormal:
      numbers.query = fill(queries, normal);
      numbers.key = fill(keys, normal);
      break;
    case InputKind::kLargeLogits:
      numbers.query = fill(queries, [&](int, int) { return kLogitGain * source.next(); });
      numbers.key = fill(keys, normal);
      break;
    case InputKind::kOneHot:
      numbers.query = fill(queries, one_hot(kOneHotLogit / scale));
      numbers.key = fill(keys, one_hot(1.0));
      break;
    case InputKind::kRising:
      numbers.query = fill(queries, with_first_column([&](int) { return 1.0 / scale; }));
      numbers.key = fill(keys, with_first_column(risen));
      break;
    case InputKind::kSpikes:
      numbers.query = fill(queries, with_last_column([&](int) { return 1.0 / scale; }));
      numbers.key = fill(keys, with_last_column(spike));
      break;
    case InputKind::kJumps:
      numbers.query = fill(queries, asks);
      numbers.key = fill(keys, jumps);
      break;
    case InputKind::kOneHeavy: {
      // Even queries ask for the first key by column 0, odd ones for the last that all see by 1.
      const int late = std::max(keys.rows - queries.rows, 0);
      const double logit = std::log(keys.rows);
      numbers.query = fill(queries, [&](int row, int column) {
        const double noise = source.next();
        if (column > 1) return noise;
        return row % 2 == column ? (logit + std::abs(noise)) / scale : 0.0;
      });
      numbers.key = fill(keys, [&](int row, int column) {
        const double noise = source.next();
        if (column > 1) return noise;
        return row == (column == 0 ? 0 : late) ? 1.0 : 0.0;
      });
      break;
    }
    case InputKind::kExact:
      return exact_numbers(queries, keys, exact_unit(problem), UniformSource(seed));
  }
  numbers.value = fill(keys, normal);
  return numbers;
}

HostTensors make_contiguous_inputs(const Problem& problem, InputKind kind, std::uint64_t seed,
                                   double rise) {
  const InputNumbers numbers = make_numbers(problem, kind, seed, rise);
  if (kind != InputKind::kExact) {
    return encode(problem, numbers, random_scales(problem, numbers, ScaleChoice::kAny, seed + 1));
  }
  // Q's numbers are whole times a unit, which goes into its scales: then its elements are whole.
  const auto unit = static_cast<float>(exact_unit(problem));
  InputNumbers whole = numbers;
  for (float& number : whole.query) number /= unit;
  HostScales scales = random_scales(problem, whole, ScaleChoice::kPowersOfTwo, seed + 1);
  for (float& scale : scales.query_descale) scale *= unit;
  return encode(problem, numbers, std::move(scales));
}

HostTensors scatter_inputs(const Problem& problem, const HostTensors& contiguous) {
  const Sizes& sizes = problem.sizes;
  return {scatter(contiguous.query, sizes.query_strides, query_shape(problem)),
          scatter(contiguous.key, sizes.key_strides, key_value_shape(problem)),
          scatter(contiguous.value, sizes.value_strides, value_shape(problem)), contiguous.scales};
}

HostTensors make_inputs(const Problem& problem, InputKind kind, std::uint64_t seed, double rise) {
  return scatter_inputs(problem, make_contiguous_inputs(problem, kind, seed, rise));
}

}  // namespace heddle
