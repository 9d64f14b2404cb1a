#include "tests/mutation/recipe.hpp"

namespace heddle::mutation {

void add_fa1(Problems& list) {
  const Recipe plain{
      .name = "fa1 causal",
      .config = {.family = Family::kFa1, .tile_m = 32, .tile_n = 64, .warps = 4, .stages = 1},
      .head_dim = 40,
      .seqlen_q = 45,
      .seqlen_kv = 142,
      .heads = 2,
      .kv_heads = 1};
  list.push_back(make(plain));
  add_fa1_large(list);
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
      .config = {.family = Family::kFa1, .tile_m = 96, .tile_n = 256, .warps = 4, .stages = 3},
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
  list.push_back(make(with(plain, [](Recipe& recipe) {
    recipe.name = "fa1 odd values from before the first masked key on";
    recipe.batch = 1, recipe.heads = 1;
    recipe.seqlen_q = 32, recipe.seqlen_kv = 160, recipe.bad_values = 33;
  })));
  list.push_back(
      make({.name = "fa1 deep",
            .config = {.family = Family::kFa1, .tile_m = 32, .tile_n = 32, .warps = 2, .stages = 2},
            .head_dim = 144,
            .mask = MaskKind::kFull,
            .seqlen_q = 40,
            .seqlen_kv = 70,
            .batch = 1,
            .kv_heads = 4,
            .alignment = 4}));
}

}  // namespace heddle::mutation
