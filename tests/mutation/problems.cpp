#include "tests/mutation/problems.hpp"

#include <cmath>
#include <limits>

#include "runtime/testing/element.hpp"
#include "runtime/testing/inputs.hpp"

namespace heddle::mutation {
namespace {

/// Rows of K and V past the end, and what lies between rows, hold NaN.
constexpr int kRowsBehind = 3;
/// From one key with values that are not finite to the next.
constexpr std::size_t kBadDistance = 13;
constexpr std::size_t kTile = 32;
constexpr std::size_t kLongestTile = 64;

struct Recipe {
  std::string name;
  KernelConfig config;
  DataType dtype = DataType::kBf16;
  int head_dim = 32;
  MaskKind mask = MaskKind::kCausal;
  int seqlen_q = 45;
  int seqlen_kv = 78;  ///< the last query of a tile sees one key of the last block
  int batch = 2;
  int heads = 4;
  int kv_heads = 2;
  int num_splits = 0;
  double logit_factor = 1;  ///< on the scale
  int alignment = 16;       ///< every stride is an odd multiple of it
  InputKind inputs = InputKind::kNormal;
  int bad_values = 0;  ///< the last keys' values are not finite
  Hook hook = Hook::kNone;
};

/// Strides unlike any other tensor's: `extra` counts units of the alignment, and is odd.
Strides spread(const TensorShape& shape, int alignment, int extra) {
  const int unit = alignment / 2;
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
  Sizes& sizes = problem.sizes;
  sizes.batch = recipe.batch;
  sizes.heads = recipe.heads;
  sizes.kv_heads = recipe.kv_heads;
  sizes.seqlen_q = recipe.seqlen_q;
  sizes.seqlen_kv = recipe.seqlen_kv;
  sizes.num_splits = recipe.num_splits;
  sizes.scale = recipe.logit_factor / std::sqrt(recipe.head_dim);
  sizes.query_strides = spread(query_shape(problem), recipe.alignment, 0);
  sizes.key_strides = spread(key_value_shape(problem), recipe.alignment, 1);
  sizes.value_strides = spread(key_value_shape(problem), recipe.alignment, 2);
  sizes.output_strides = spread(query_shape(problem), recipe.alignment, 3);
  return problem;
}

/// NaN and both infinities in some columns of a few of the last keys, the first and last of a block
/// among them: most queries do not see them.
void spoil_values(const Problem& problem, int bad_keys, std::vector<std::uint16_t>& values) {
  constexpr float kBad[] = {std::numeric_limits<float>::quiet_NaN(),
                            std::numeric_limits<float>::infinity(),
                            -std::numeric_limits<float>::infinity()};
  const TensorShape shape = key_value_shape(problem);
  const auto columns = static_cast<std::size_t>(shape.columns);
  const auto rows = static_cast<std::size_t>(shape.rows);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t row = i / columns % rows;
    const std::size_t behind = rows - 1 - row;
    if (behind >= static_cast<std::size_t>(bad_keys)) continue;
    if ((behind % kBadDistance != 0 && row % kLongestTile != 0 && row % kTile != kTile - 1) ||
        (i % columns + behind) % 5 != 0) {
      continue;
    }
    values[i] = element_from_float(problem.variant.dtype, kBad[behind / kBadDistance % 3]);
  }
}

SmallProblem make(const Recipe& recipe) {
  SmallProblem made{recipe.name, recipe.config, make_problem(recipe), {}, {}, recipe.hook};
  HostTensors contiguous = make_contiguous_inputs(made.problem, recipe.inputs, 7);
  made.tensors = scatter_inputs(made.problem, contiguous);
  if (recipe.bad_values > 0) {
    made.clean = made.tensors;
    spoil_values(made.problem, recipe.bad_values, contiguous.value);
    made.tensors = scatter_inputs(made.problem, contiguous);
  }
  return made;
}

Recipe with(Recipe recipe, void (*change)(Recipe&)) {
  change(recipe);
  return recipe;
}

void add_fa2(std::vector<SmallProblem>& list) {
  const Recipe plain{.name = "fa2 causal",
                     .config = {.tile_m = 32, .tile_n = 32, .warps = 2, .stages = 2}};
  list.push_back(make(plain));
  const Recipe deep{.name = "fa2 full, narrow, one hot",
                    .config = {.tile_m = 64,
                               .tile_n = 16,
                               .warps = 2,
                               .stages = 1,
                               .query_in_registers = true,
                               .running_max = RunningMax::kEveryBlock},
                    .dtype = DataType::kFp16,
                    .head_dim = 72,
                    .mask = MaskKind::kFull,
                    .seqlen_q = 70,
                    .seqlen_kv = 161,
                    .batch = 1,
                    .heads = 2,
                    .alignment = 8,
                    .inputs = InputKind::kOneHot};
  list.push_back(make(deep));
  const Recipe split{.name = "fa2 split",
                     .config = {.tile_m = 64,
                                .tile_n = 16,
                                .warps = 2,
                                .stages = 3,
                                .split_kv = true,
                                .longest_first = false},
                     .head_dim = 40,
                     .seqlen_q = 70,
                     .seqlen_kv = 150,
                     .batch = 1,
                     .num_splits = 3,
                     .logit_factor = 4,
                     .alignment = 2,
                     .inputs = InputKind::kRising};
  list.push_back(make(split));
  list.push_back(make(with(plain, [](Recipe& recipe) {
    recipe.name = "fa2 odd values";
    recipe.bad_values = 80;
    recipe.seqlen_kv = 75;
  })));
  list.push_back(make(with(plain, [](Recipe& recipe) {
    recipe.name = "fa2 rising";
    recipe.inputs = InputKind::kRising, recipe.seqlen_kv = 76;
  })));
  list.push_back(make(with(plain, [](Recipe& recipe) {
    recipe.name = "fa2 rows without keys";
    recipe.seqlen_q = 70, recipe.seqlen_kv = 33;
  })));
  list.push_back(make(with(plain, [](Recipe& recipe) {
    recipe.name = "fa2 no keys";
    recipe.seqlen_kv = 0;
  })));
  list.push_back(make(with(plain, [](Recipe& recipe) {
    recipe.name = "fa2 score hook";
    recipe.mask = MaskKind::kFull, recipe.hook = Hook::kScore, recipe.batch = 2, recipe.heads = 2;
    recipe.kv_heads = 2;
    recipe.seqlen_kv = 96;
  })));
  list.push_back(make(with(plain, [](Recipe& recipe) {
    recipe.name = "fa2 mask hook";
    recipe.mask = MaskKind::kFull, recipe.hook = Hook::kMask, recipe.batch = 1, recipe.heads = 2;
    recipe.bad_values = 40;
  })));
  list.push_back(make(with(deep, [](Recipe& recipe) {
    recipe.name = "fa2 odd values at the end of full rows";
    recipe.inputs = InputKind::kLargeLogits, recipe.logit_factor = 4;
    recipe.bad_values = 2;
  })));
  list.push_back(make(with(split, [](Recipe& recipe) {
    recipe.name = "fa2 split, rows without keys";
    recipe.seqlen_q = 70, recipe.seqlen_kv = 20, recipe.num_splits = 5;
    recipe.logit_factor = 40, recipe.inputs = InputKind::kLargeLogits;
  })));
  list.push_back(make({.name = "fa2 split, long rows",
                       .config = {.tile_m = 16,
                                  .tile_n = 16,
                                  .warps = 1,
                                  .stages = 2,
                                  .split_kv = true,
                                  .longest_first = true},
                       .head_dim = 136,
                       .mask = MaskKind::kFull,
                       .seqlen_q = 19,
                       .seqlen_kv = 47,
                       .batch = 1,
                       .heads = 1,
                       .kv_heads = 1,
                       .num_splits = 2,
                       .logit_factor = 40,
                       .inputs = InputKind::kLargeLogits}));
  list.push_back(make({.name = "fa2 deep",
                       .config = {.tile_m = 16, .tile_n = 16, .warps = 1, .stages = 1},
                       .head_dim = 144,
                       .seqlen_q = 40,
                       .seqlen_kv = 64,
                       .batch = 1,
                       .heads = 1,
                       .kv_heads = 1,
                       .alignment = 4}));
  list.push_back(make(
      {.name = "fa2 wide",
       .config = {.tile_m = 16, .tile_n = 96, .warps = 1, .stages = 3, .query_in_registers = true},
       .head_dim = 16,
       .seqlen_q = 20,
       .seqlen_kv = 200,
       .batch = 1,
       .heads = 1,
       .kv_heads = 1}));
}

void add_fa1(std::vector<SmallProblem>& list) {
  const Recipe plain{
      .name = "fa1 causal",
      .config = {.family = Family::kFa1, .tile_m = 32, .tile_n = 64, .warps = 4, .stages = 1},
      .head_dim = 40,
      .seqlen_q = 45,
      .seqlen_kv = 142,
      .heads = 2,
      .kv_heads = 1};
  list.push_back(make(plain));
  const Recipe teams{
      .name = "fa1 full, two teams, one hot",
      .config = {.family = Family::kFa1, .tile_m = 128, .tile_n = 64, .warps = 8, .stages = 2},
      .dtype = DataType::kFp16,
      .head_dim = 72,
      .mask = MaskKind::kFull,
      .seqlen_q = 150,
      .seqlen_kv = 140,
      .batch = 1,
      .heads = 1,
      .kv_heads = 1,
      .alignment = 8,
      .inputs = InputKind::kOneHot};
  list.push_back(make(teams));
  const Recipe one_round{
      .name = "fa1 one round",
      .config = {.family = Family::kFa1, .tile_m = 96, .tile_n = 128, .warps = 4, .stages = 3},
      .head_dim = 24,
      .seqlen_q = 129,
      .seqlen_kv = 260,
      .batch = 1,
      .heads = 2,
      .kv_heads = 1,
      .alignment = 2,
      .inputs = InputKind::kLargeLogits};
  list.push_back(make(one_round));
  list.push_back(make(with(plain, [](Recipe& recipe) {
    recipe.name = "fa1 odd values";
    recipe.bad_values = 200, recipe.batch = 1, recipe.heads = 2, recipe.kv_heads = 2;
    recipe.seqlen_kv = 171;
  })));
  list.push_back(make(with(plain, [](Recipe& recipe) {
    recipe.name = "fa1 rising";
    recipe.inputs = InputKind::kRising, recipe.batch = 1, recipe.heads = 4, recipe.kv_heads = 2;
  })));
  list.push_back(make(with(plain, [](Recipe& recipe) {
    recipe.name = "fa1 rows without keys";
    recipe.seqlen_q = 100, recipe.seqlen_kv = 65, recipe.batch = 1;
  })));
  list.push_back(make(with(plain, [](Recipe& recipe) {
    recipe.name = "fa1 no keys";
    recipe.seqlen_kv = 0;
  })));
  list.push_back(make(with(plain, [](Recipe& recipe) {
    recipe.name = "fa1 score hook";
    recipe.mask = MaskKind::kFull, recipe.hook = Hook::kScore, recipe.batch = 2, recipe.heads = 2;
    recipe.kv_heads = 2;
    recipe.seqlen_kv = 128;
  })));
  list.push_back(make(with(plain, [](Recipe& recipe) {
    recipe.name = "fa1 mask hook";
    recipe.mask = MaskKind::kFull, recipe.hook = Hook::kMask, recipe.batch = 1, recipe.heads = 2;
    recipe.bad_values = 80;
    recipe.seqlen_kv = 128;
  })));
  list.push_back(make(with(teams, [](Recipe& recipe) {
    recipe.name = "fa1 two teams, odd values at the end of full rows";
    recipe.inputs = InputKind::kLargeLogits, recipe.logit_factor = 4;
    recipe.bad_values = 2;
  })));
  list.push_back(
      make({.name = "fa1 deep",
            .config = {.family = Family::kFa1, .tile_m = 32, .tile_n = 32, .warps = 2, .stages = 2},
            .head_dim = 144,
            .seqlen_q = 40,
            .seqlen_kv = 70,
            .batch = 1,
            .kv_heads = 4,
            .alignment = 4}));
}

void add_unfused(std::vector<SmallProblem>& list) {
  const Recipe plain{
      .name = "unfused causal",
      .config = {.family = Family::kUnfused, .tile_m = 32, .tile_n = 32, .warps = 4, .stages = 1}};
  list.push_back(make(plain));
  const Recipe deep{
      .name = "unfused full, narrow, one hot",
      .config = {.family = Family::kUnfused, .tile_m = 64, .tile_n = 64, .warps = 2, .stages = 3},
      .dtype = DataType::kFp16,
      .head_dim = 72,
      .mask = MaskKind::kFull,
      .seqlen_q = 70,
      .seqlen_kv = 268,
      .batch = 1,
      .heads = 1,
      .kv_heads = 1,
      .alignment = 8,
      .inputs = InputKind::kOneHot};
  list.push_back(make(deep));
  list.push_back(make(with(plain, [](Recipe& recipe) {
    recipe.name = "unfused odd values";
    recipe.bad_values = 80, recipe.batch = 1;
    recipe.seqlen_kv = 75;
  })));
  list.push_back(make(with(plain, [](Recipe& recipe) {
    recipe.name = "unfused rows without keys";
    recipe.seqlen_q = 70, recipe.seqlen_kv = 33;
  })));
  list.push_back(make(with(plain, [](Recipe& recipe) {
    recipe.name = "unfused no keys";
    recipe.seqlen_kv = 0;
  })));
  list.push_back(make(with(plain, [](Recipe& recipe) {
    recipe.name = "unfused score hook";
    recipe.mask = MaskKind::kFull, recipe.hook = Hook::kScore, recipe.batch = 2, recipe.heads = 2;
    recipe.kv_heads = 2;
    recipe.seqlen_kv = 96;
  })));
  list.push_back(make(with(plain, [](Recipe& recipe) {
    recipe.name = "unfused mask hook";
    recipe.mask = MaskKind::kFull, recipe.hook = Hook::kMask, recipe.batch = 1, recipe.heads = 2;
    recipe.bad_values = 40;
  })));
  // The softmax has five ways: up to 512, 1024, 2048, 8192 keys, and beyond.
  list.push_back(make(with(plain, [](Recipe& recipe) {
    recipe.name = "unfused 512 keys, steep";
    recipe.seqlen_q = 45, recipe.seqlen_kv = 512;
    recipe.batch = 1, recipe.heads = 1, recipe.kv_heads = 1;
    recipe.inputs = InputKind::kLargeLogits, recipe.logit_factor = 40;
  })));
  list.push_back(make(with(plain, [](Recipe& recipe) {
    recipe.name = "unfused 513 keys";
    recipe.seqlen_q = 5, recipe.seqlen_kv = 513;
    recipe.batch = 1, recipe.heads = 1, recipe.kv_heads = 1;
  })));
  list.push_back(make(with(plain, [](Recipe& recipe) {
    recipe.name = "unfused 1025 keys";
    recipe.seqlen_q = 5, recipe.seqlen_kv = 1025;
    recipe.batch = 1, recipe.heads = 1, recipe.kv_heads = 1;
  })));
  list.push_back(make(with(plain, [](Recipe& recipe) {
    recipe.name = "unfused 2049 keys";
    recipe.seqlen_q = 5, recipe.seqlen_kv = 2049;
    recipe.batch = 1, recipe.heads = 1, recipe.kv_heads = 1;
  })));
  list.push_back(make(with(plain, [](Recipe& recipe) {
    recipe.name = "unfused 8193 keys";
    recipe.seqlen_q = 35, recipe.seqlen_kv = 8193;
    recipe.batch = 1, recipe.heads = 1, recipe.kv_heads = 1;
  })));
  list.push_back(make(with(deep, [](Recipe& recipe) {
    recipe.name = "unfused odd values at the end of full rows";
    recipe.inputs = InputKind::kLargeLogits, recipe.logit_factor = 4;
    recipe.bad_values = 2;
    recipe.heads = 2;
  })));
  list.push_back(make(
      {.name = "unfused deep",
       .config = {.family = Family::kUnfused, .tile_m = 16, .tile_n = 32, .warps = 2, .stages = 2},
       .head_dim = 160,
       .seqlen_q = 40,
       .batch = 1,
       .kv_heads = 4,
       .alignment = 2}));
}

void add_reference(std::vector<SmallProblem>& list) {
  const Recipe plain{.name = "reference causal",
                     .config = {.family = Family::kReference,
                                .tile_m = 32,
                                .tile_n = 32,
                                .reference = ReferenceKind::kBaseline},
                     .head_dim = 40,
                     .seqlen_q = 35,
                     .seqlen_kv = 68,
                     .heads = 2,
                     .kv_heads = 2};
  list.push_back(make(plain));
  list.push_back(make(with(plain, [](Recipe& recipe) {
    recipe.name = "reference full";
    recipe.mask = MaskKind::kFull, recipe.dtype = DataType::kFp16;
    recipe.inputs = InputKind::kNormal, recipe.alignment = 2, recipe.batch = 1;
  })));
  list.push_back(make(with(plain, [](Recipe& recipe) {
    recipe.name = "reference odd values";
    recipe.bad_values = 40, recipe.batch = 1, recipe.kv_heads = 1;
  })));
  list.push_back(make(with(plain, [](Recipe& recipe) {
    recipe.name = "reference rows without keys";
    recipe.seqlen_q = 50, recipe.seqlen_kv = 33, recipe.batch = 1;
  })));
  list.push_back(make(with(plain, [](Recipe& recipe) {
    recipe.name = "reference no keys";
    recipe.seqlen_kv = 0;
  })));
  list.push_back(make(with(plain, [](Recipe& recipe) {
    recipe.name = "reference score hook";
    recipe.mask = MaskKind::kFull, recipe.hook = Hook::kScore, recipe.batch = 2, recipe.heads = 2;
    recipe.kv_heads = 2;
    recipe.seqlen_kv = 96;
  })));
  list.push_back(make(with(plain, [](Recipe& recipe) {
    recipe.name = "reference mask hook";
    recipe.mask = MaskKind::kFull, recipe.hook = Hook::kMask, recipe.batch = 1, recipe.heads = 2;
    recipe.bad_values = 40;
  })));
}

}  // namespace

std::vector<SmallProblem> small_problems() {
  std::vector<SmallProblem> list;
  add_fa2(list);
  add_fa1(list);
  add_unfused(list);
  add_reference(list);
  return list;
}

}  // namespace heddle::mutation
