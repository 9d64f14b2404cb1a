// Every scale, every step of the recipe, both types and layouts, head dims with and without idle
// lanes, tiles that end early, and numbers that are not finite.

#include <array>
#include <cmath>
#include <limits>

#include "runtime/testing/layout.hpp"
#include "tests/mutation/quantiser_problem.hpp"

namespace heddle::mutation {
namespace {

using Problems = std::vector<SmallQuantiserProblem>;

struct Recipe {
  std::string name;
  ScaleKind scales = ScaleKind::kHead;
  int head_dim = 32;
  QuantiserRecipe steps;
  DataType dtype = DataType::kBf16;
  ValueLayout layout = ValueLayout::kRows;
  int seqlen_q = 45;
  int seqlen_kv = 78;
  int batch = 2;
  int heads = 4;
  int kv_heads = 2;
};

/// One number of each head outweighs the rest: what shares its scale has to have met it, in the
/// first and the last row and column and between.
void stand_out(const TensorShape& shape, std::vector<float>& numbers) {
  struct Place {
    int row, column;
  };
  const int last_row = shape.rows - 1;
  const int last_column = shape.columns - 1;
  const std::array<Place, 6> places{{{last_row, last_column},
                                     {0, 0},
                                     {last_row, 0},
                                     {shape.rows / 2, shape.columns / 2 + 3},
                                     {0, last_column},
                                     {shape.rows / 3, shape.columns / 3}}};
  for (int head = 0; head < shape.batch * shape.heads; ++head) {
    const Place& place = places[static_cast<std::size_t>(head) % places.size()];
    const int row = head * shape.rows + place.row;
    const float height = 8.0f + static_cast<float>(head % 7);
    numbers[static_cast<std::size_t>(row * shape.columns + place.column)] =
        head % 2 == 0 ? -height : height;
  }
}

SmallQuantiserProblem make(const Recipe& recipe) {
  SmallQuantiserProblem made;
  made.name = recipe.name;
  QuantiserCase& subject = made.subject;
  subject.problem.variant = {.dtype = DataType::kE4m3,
                             .head_dim = recipe.head_dim,
                             .scales = recipe.scales,
                             .value_layout = recipe.layout};
  subject.problem.sizes = {.batch = recipe.batch,
                           .heads = recipe.heads,
                           .kv_heads = recipe.kv_heads,
                           .seqlen_q = recipe.seqlen_q,
                           .seqlen_kv = recipe.seqlen_kv,
                           .scale = 0.125};
  subject.dtype = recipe.dtype;
  subject.recipe = recipe.steps;
  made.numbers = quantiser_numbers(subject);
  const TensorShape keys = key_value_shape(subject.problem);
  stand_out(query_shape(subject.problem), made.numbers.query);
  stand_out(keys, made.numbers.key);
  stand_out(keys, made.numbers.value);
  return made;
}

/// NaN and infinities among the numbers, a row and a head of Q of zeros alone, and a column of V
/// without a finite number.
SmallQuantiserProblem with_odd_numbers(SmallQuantiserProblem problem) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const auto columns = static_cast<std::size_t>(problem.subject.problem.variant.head_dim);
  const auto queries = static_cast<std::size_t>(problem.subject.problem.sizes.seqlen_q);
  const auto keys = static_cast<std::size_t>(problem.subject.problem.sizes.seqlen_kv);
  InputNumbers& numbers = problem.numbers;
  std::fill_n(numbers.query.begin(), columns, 0.0f);
  std::fill_n(numbers.query.begin() + static_cast<std::ptrdiff_t>(queries * columns),
              queries * columns, 0.0f);
  numbers.query[columns + 3] = kNan;
  numbers.query[2 * columns + 5] = kInfinity;
  numbers.query[3 * columns] = -kInfinity;
  numbers.key[columns - 1] = kNan;
  numbers.key[(keys - 1) * columns] = -kInfinity;
  numbers.value[7] = kNan;
  numbers.value[columns + 7] = -kInfinity;
  numbers.value[3 * columns + 9] = kInfinity;
  for (std::size_t key = 0; key < keys; ++key) {
    numbers.value[key * columns + 17] = key % 2 == 0 ? kNan : kInfinity;
  }
  return problem;
}

void add_rows(Problems& list) {
  list.push_back(make({.name = "quantiser tokens", .scales = ScaleKind::kToken}));
  list.push_back(make({.name = "quantiser heads, all means, transposed",
                       .steps = {false, true, true},
                       .dtype = DataType::kFp16,
                       .layout = ValueLayout::kTransposed,
                       .seqlen_q = 130,
                       .seqlen_kv = 145}));
  list.push_back(make({.name = "quantiser blocks, key mean",
                       .scales = ScaleKind::kBlock,
                       .head_dim = 96,
                       .steps = {false, true, false},
                       .seqlen_q = 129,
                       .seqlen_kv = 131,
                       .batch = 1,
                       .heads = 2,
                       .kv_heads = 1}));
  list.push_back(make({.name = "quantiser one scale, many heads",
                       .scales = ScaleKind::kTensor,
                       .seqlen_q = 2,
                       .seqlen_kv = 17,
                       .batch = 33}));
  list.push_back(make({.name = "quantiser heads, wide rows",
                       .head_dim = 160,
                       .steps = {false, false, true},
                       .seqlen_q = 33,
                       .seqlen_kv = 130,
                       .batch = 1,
                       .heads = 2}));
  list.push_back(make({.name = "quantiser heads, transposed in small tiles",
                       .head_dim = 96,
                       .dtype = DataType::kFp16,
                       .layout = ValueLayout::kTransposed,
                       .seqlen_q = 20,
                       .seqlen_kv = 70,
                       .heads = 2,
                       .kv_heads = 1}));
}

void add_rotated(Problems& list) {
  list.push_back(make({.name = "quantiser tokens, rotated",
                       .scales = ScaleKind::kToken,
                       .head_dim = 64,
                       .steps = {true, false, true},
                       .dtype = DataType::kFp16,
                       .layout = ValueLayout::kTransposed,
                       .seqlen_q = 20,
                       .seqlen_kv = 31}));
  list.push_back(make({.name = "quantiser blocks, rotated, all means",
                       .scales = ScaleKind::kBlock,
                       .head_dim = 64,
                       .steps = {true, true, true},
                       .seqlen_q = 130,
                       .seqlen_kv = 131,
                       .batch = 2,
                       .heads = 2,
                       .kv_heads = 1}));
  for (const int head_dim : {96, 192}) {
    list.push_back(make({.name = "quantiser heads, rotated, of " + std::to_string(head_dim),
                         .head_dim = head_dim,
                         .steps = {true, head_dim == 96, false},
                         .layout = ValueLayout::kTransposed,
                         .seqlen_q = 17,
                         .seqlen_kv = 70,
                         .batch = 1,
                         .heads = 2}));
  }
}

void add_odd(Problems& list) {
  for (const bool means : {false, true}) {
    list.push_back(with_odd_numbers(
        make({.name = means ? "quantiser odd numbers, means" : "quantiser odd numbers",
              .scales = means ? ScaleKind::kHead : ScaleKind::kToken,
              .head_dim = 64,
              .steps = {!means, means, means},
              .dtype = DataType::kFp16,
              .seqlen_q = 20,
              .seqlen_kv = 33})));
  }
}

}  // namespace

std::vector<SmallQuantiserProblem> small_quantiser_problems() {
  Problems list;
  add_rows(list);
  add_rotated(list);
  add_odd(list);
  return list;
}

}  // namespace heddle::mutation
