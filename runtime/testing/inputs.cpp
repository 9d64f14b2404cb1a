#include "runtime/testing/inputs.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "runtime/testing/element.hpp"

namespace heddle {
namespace {

constexpr double kLogitGain = 8.0;
constexpr double kOneHotLogit = 16.0;
constexpr int kSpikeDistance = 64;
constexpr int kJumpColumns = 7;

/// Calls value(row, column) for every element, rows counted within their head.
template <class Value>
std::vector<std::uint16_t> fill(DataType dtype, const TensorShape& shape, Value&& value) {
  std::vector<std::uint16_t> elements;
  elements.reserve(shape.elements());
  const long long heads = static_cast<long long>(shape.batch) * shape.heads;
  for (long long row = 0; row < heads * shape.rows; ++row) {
    for (int column = 0; column < shape.columns; ++column) {
      const double exact = value(static_cast<int>(row % shape.rows), column);
      elements.push_back(element_from_float(dtype, static_cast<float>(exact)));
    }
  }
  return elements;
}

}  // namespace

/// splitmix64: a counter and a strong mix of it.
double NormalSource::uniform() {
  state_ += 0x9e3779b97f4a7c15u;
  std::uint64_t mixed = state_;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
  mixed ^= mixed >> 31;
  return (static_cast<double>(mixed >> 11) + 0.5) * 0x1p-53;  // never 0, never 1
}

double NormalSource::next() {
  if (has_spare_) {
    has_spare_ = false;
    return spare_;
  }
  const double radius = std::sqrt(-2.0 * std::log(uniform()));
  const double angle = 2.0 * std::numbers::pi * uniform();
  spare_ = radius * std::sin(angle);
  has_spare_ = true;
  return radius * std::cos(angle);
}

HostTensors make_contiguous_inputs(const Problem& problem, InputKind kind, std::uint64_t seed,
                                   double rise) {
  const DataType dtype = problem.variant.dtype;
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

  HostTensors tensors;
  switch (kind) {
    case InputKind::kNormal:
      tensors.query = fill(dtype, queries, normal);
      tensors.key = fill(dtype, keys, normal);
      break;
    case InputKind::kLargeLogits:
      tensors.query = fill(dtype, queries, [&](int, int) { return kLogitGain * source.next(); });
      tensors.key = fill(dtype, keys, normal);
      break;
    case InputKind::kOneHot:
      tensors.query = fill(dtype, queries, one_hot(kOneHotLogit / scale));
      tensors.key = fill(dtype, keys, one_hot(1.0));
      break;
    case InputKind::kRising:
      tensors.query = fill(dtype, queries, with_first_column([&](int) { return 1.0 / scale; }));
      tensors.key = fill(dtype, keys, with_first_column(risen));
      break;
    case InputKind::kSpikes:
      tensors.query = fill(dtype, queries, with_last_column([&](int) { return 1.0 / scale; }));
      tensors.key = fill(dtype, keys, with_last_column(spike));
      break;
    case InputKind::kJumps:
      tensors.query = fill(dtype, queries, asks);
      tensors.key = fill(dtype, keys, jumps);
      break;
    case InputKind::kOneHeavy: {
      // Even queries ask for the first key by column 0, odd ones for the last that all see by 1.
      const int late = std::max(keys.rows - queries.rows, 0);
      const double logit = std::log(keys.rows);
      tensors.query = fill(dtype, queries, [&](int row, int column) {
        const double noise = source.next();
        if (column > 1) return noise;
        return row % 2 == column ? (logit + std::abs(noise)) / scale : 0.0;
      });
      tensors.key = fill(dtype, keys, [&](int row, int column) {
        const double noise = source.next();
        if (column > 1) return noise;
        return row == (column == 0 ? 0 : late) ? 1.0 : 0.0;
      });
      break;
    }
  }
  tensors.value = fill(dtype, keys, normal);
  return tensors;
}

HostTensors scatter_inputs(const Problem& problem, const HostTensors& contiguous) {
  const TensorShape keys = key_value_shape(problem);
  const Sizes& sizes = problem.sizes;
  return {scatter(contiguous.query, sizes.query_strides, query_shape(problem)),
          scatter(contiguous.key, sizes.key_strides, keys),
          scatter(contiguous.value, sizes.value_strides, keys)};
}

HostTensors make_inputs(const Problem& problem, InputKind kind, std::uint64_t seed, double rise) {
  return scatter_inputs(problem, make_contiguous_inputs(problem, kind, seed, rise));
}

}  // namespace heddle
