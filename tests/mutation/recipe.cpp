#include "tests/mutation/recipe.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/testing/element.hpp"

namespace heddle::mutation {
namespace {

/// Rows of K and V past the end, and what lies between rows, hold NaN.
constexpr int kRowsBehind = 3;
/// From one key with values that are not finite to the next.
constexpr std::size_t kBadDistance = 13;
constexpr std::size_t kTile = 32;
constexpr std::size_t kPiece = 8;  ///< elements of 16 bytes
constexpr std::size_t kLongestTile = 64;
constexpr std::size_t kLateKeys = 12;

/// Strides unlike any other tensor's: `extra` counts units of the alignment, and is odd.
Strides spread(const TensorShape& shape, int alignment, DataType type, int extra) {
  const int unit = alignment / element_bytes(type);
  const auto odd = [&](long long least) { return (least / unit + 1) / 2 * 2 * unit + unit; };
  Strides strides;
  strides.row = odd(shape.columns) + 2LL * unit * extra;
  strides.head = odd((shape.rows + kRowsBehind) * strides.row);
  strides.batch = odd(shape.heads * strides.head) + 2LL * unit * extra;
  return strides;
}

Problem make_problem(const Recipe& recipe) {
  Problem problem;
  problem.variant.dtype = recipe.dtype;
  problem.variant.head_dim = recipe.head_dim;
  problem.variant.mask = recipe.mask;
  problem.variant.alignment = recipe.alignment;
  problem.variant.scales = recipe.scales;
  problem.variant.value_layout = recipe.value_layout;
  problem.variant.output_dtype = recipe.output_dtype;
  Sizes& sizes = problem.sizes;
  sizes.batch = recipe.batch;
  sizes.heads = recipe.heads;
  sizes.kv_heads = recipe.kv_heads;
  sizes.seqlen_q = recipe.seqlen_q;
  sizes.seqlen_kv = recipe.seqlen_kv;
  sizes.num_splits = recipe.num_splits;
  sizes.scale = recipe.scale > 0 ? recipe.scale : recipe.logit_factor / std::sqrt(recipe.head_dim);
  const DataType in = recipe.dtype;
  sizes.query_strides = spread(query_shape(problem), recipe.alignment, in, 0);
  sizes.key_strides = spread(key_value_shape(problem), recipe.alignment, in, 1);
  sizes.value_strides = spread(value_shape(problem), recipe.alignment, in, 2);
  sizes.output_strides =
      spread(query_shape(problem), recipe.alignment, output_type(problem.variant), 3);
  if (recipe.shared_keys) sizes.key_strides.head = sizes.value_strides.batch = 0;
  return problem;
}

/// Whether to spoil a value: the first one of a block's first key, the last one of its last key,
/// and others of few keys.
bool is_bad(std::size_t key, std::size_t keys_behind, std::size_t column, std::size_t columns) {
  if (key % kLongestTile == 0) return column == 0;
  if (key % kTile == kTile - 1) return column == columns - 1;
  const bool inner = column != 0 && column != columns - 1;
  return inner && keys_behind % kBadDistance == 0 && (column + keys_behind) % 5 == 0;
}

/// NaN and both infinities among the values of the last keys: most queries do not see them.
void spoil_values(const Problem& problem, const Recipe& recipe,
                  std::vector<std::uint16_t>& values) {
  constexpr float kBad[] = {std::numeric_limits<float>::quiet_NaN(),
                            std::numeric_limits<float>::infinity(),
                            -std::numeric_limits<float>::infinity()};
  const TensorShape shape = key_value_shape(problem);
  const auto columns = static_cast<std::size_t>(shape.columns);
  const auto rows = static_cast<std::size_t>(shape.rows);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t row = i / columns % rows;
    const std::size_t behind = rows - 1 - row;
    if (behind >= static_cast<std::size_t>(recipe.bad_values)) continue;
    const std::size_t column = i % columns;
    if (recipe.dense ? column % kPiece == row % kPiece : is_bad(row, behind, column, columns)) {
      // Dense ones differ from head to head.
      const std::size_t kind = recipe.dense ? row + i / columns / rows : behind / kBadDistance;
      values[i] = element_from_float(problem.variant.dtype, kBad[kind % 3]);
    }
  }
}

/// Small whole numbers: sums of their products are exact.
void make_whole(DataType dtype, std::vector<std::uint16_t>& elements) {
  for (std::uint16_t& element : elements) {
    const float whole = std::round(element_to_float(dtype, element));
    element = element_from_float(dtype, std::clamp(whole, -2.0f, 2.0f));
  }
}

/// Column 0 of every key is 1, so that column 0 of a query adds to all of its logits alike.
void set_offsets(const Problem& problem, const Recipe& recipe, HostTensors& tensors) {
  const DataType dtype = problem.variant.dtype;
  make_whole(dtype, tensors.query);
  make_whole(dtype, tensors.key);
  const auto columns = static_cast<std::size_t>(recipe.head_dim);
  for (std::size_t i = 0; i < tensors.key.size(); i += columns) {
    tensors.key[i] = element_from_float(dtype, 1.0f);
  }
  const auto offset = static_cast<float>(recipe.offset / recipe.scale);
  for (std::size_t row = 0; row < tensors.query.size() / columns; ++row) {
    std::uint16_t* query = &tensors.query[row * columns];
    const std::size_t kind = row % 4;
    if (kind == 3) std::fill_n(query, columns, element_from_float(dtype, 0.0f));
    if (kind == 1 || kind == 2) {
      query[0] = element_from_float(dtype, kind == 1 ? offset : -offset);
    }
  }
}

/// Column 1 of a query asks for what column 1 of the first keys has.
void set_late(const Problem& problem, const Recipe& recipe, HostTensors& tensors) {
  const DataType dtype = problem.variant.dtype;
  const auto columns = static_cast<std::size_t>(recipe.head_dim);
  const auto set = [&](std::vector<std::uint16_t>& rows, std::size_t row, double value) {
    rows[row * columns + 1] = element_from_float(dtype, static_cast<float>(value));
  };
  const auto queries = static_cast<std::size_t>(recipe.seqlen_q);
  for (std::size_t row = 0; row < tensors.query.size() / columns; ++row) {
    const bool lower_half = row % queries % 16 >= 8;
    const bool asks = recipe.all_late || lower_half == (row / queries % 2 != 0);
    set(tensors.query, row, asks ? 1 / problem.sizes.scale : 0.0);
  }
  const auto keys = static_cast<std::size_t>(recipe.seqlen_kv);
  for (std::size_t row = 0; row < tensors.key.size() / columns; ++row) {
    set(tensors.key, row, row % keys < kLateKeys ? recipe.late : 0.0);
  }
}

/// Of 16-bit elements: by their signs.
void set_below_zero(HostTensors& tensors) {
  constexpr std::uint16_t kSign = 0x8000;
  for (std::uint16_t& bits : tensors.query) bits &= static_cast<std::uint16_t>(~kSign);
  for (std::uint16_t& bits : tensors.key) bits |= kSign;
}

/// Unlike for each head, column and row.
void set_means(const Problem& problem, HostTensors& tensors) {
  NormalSource source(11);
  const auto draw = [&](std::vector<float>& numbers, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) numbers.push_back(static_cast<float>(source.next()));
  };
  const TensorShape keys = key_value_shape(problem);
  const TensorShape queries = query_shape(problem);
  const auto size = [](int count) { return static_cast<std::size_t>(count); };
  draw(tensors.scales.value_mean, size(keys.batch) * size(keys.heads) * size(keys.columns));
  draw(tensors.scales.log_sum_exp_shift,
       size(queries.batch) * size(queries.heads) * size(queries.rows));
}

}  // namespace

SmallProblem make(const Recipe& recipe) {
  SmallProblem made;
  made.name = recipe.name;
  made.config = recipe.config;
  made.problem = make_problem(recipe);
  made.hook = recipe.hook;
  made.multiprocessors = recipe.multiprocessors;
  made.small_cache = recipe.small_cache;
  if (recipe.dominated) {
    made.alike = recipe.config;
    // fa1 has no other maximum: there the bits are those without a mutant.
    const bool lazy = recipe.config.family != Family::kFa1;
    if (lazy) made.alike->running_max = RunningMax::kEveryBlock;
  }
  HostTensors contiguous = make_contiguous_inputs(made.problem, recipe.inputs, 7, recipe.rise);
  if (recipe.offset != 0) set_offsets(made.problem, recipe, contiguous);
  if (recipe.late != 0) set_late(made.problem, recipe, contiguous);
  if (recipe.below_zero) set_below_zero(contiguous);
  if (recipe.means) set_means(made.problem, contiguous);
  made.tensors = scatter_inputs(made.problem, contiguous);
  if (recipe.bad_values > 0) {
    made.clean = made.tensors;
    spoil_values(made.problem, recipe, contiguous.value);
    made.tensors = scatter_inputs(made.problem, contiguous);
  }
  return made;
}

std::vector<SmallProblem> small_problems() {
  Problems list;
  add_fa2(list);
  add_fa1(list);
  add_fa3(list);
  add_checked_sums(list);
  add_lazy(list);
  add_fp8(list);
  add_unfused(list);
  add_reference(list);
  return list;
}

}  // namespace heddle::mutation
