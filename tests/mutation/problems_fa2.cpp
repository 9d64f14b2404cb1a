#include "tests/mutation/recipe.hpp"

namespace heddle::mutation {

void add_fa2(Problems& list) {
  const Recipe plain{.name = "fa2 causal",
                     .config = {.tile_m = 32, .tile_n = 32, .warps = 2, .stages = 2}};
  list.push_back(make(plain));
  add_fa2_large(list);
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
    recipe.name = "fa2 dominated rows";
    recipe.config.tile_n = 16, recipe.mask = MaskKind::kFull, recipe.dominated = true;
    recipe.inputs = InputKind::kLargeLogits, recipe.batch = 1, recipe.heads = 2;
  })));
  list.push_back(make(with(plain, [](Recipe& recipe) {
    recipe.name = "fa2 gently rising";
    recipe.config.tile_n = 16, recipe.mask = MaskKind::kFull, recipe.seqlen_kv = 161;
    recipe.inputs = InputKind::kRising, recipe.logit_factor = 0.07;
    recipe.batch = 1, recipe.heads = 1, recipe.kv_heads = 1;
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
  list.push_back(make(with(split, [](Recipe& recipe) {
    recipe.name = "fa2 split, odd values";
    recipe.config.tile_n = 32, recipe.config.stages = 2;
    recipe.seqlen_q = 70, recipe.seqlen_kv = 100, recipe.num_splits = 2;
    recipe.batch = 2, recipe.heads = 3, recipe.kv_heads = 1;
    recipe.bad_values = 40, recipe.alignment = 16, recipe.inputs = InputKind::kNormal;
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
  list.push_back(make({.name = "fa2 odd tiles",
                       .config = {.tile_m = 64, .tile_n = 16, .warps = 4, .stages = 2},
                       .seqlen_q = 70,
                       .seqlen_kv = 100,
                       .batch = 1,
                       .heads = 1,
                       .kv_heads = 1}));
  list.push_back(make({.name = "fa2 deep",
                       .config = {.tile_m = 16, .tile_n = 16, .warps = 1, .stages = 1},
                       .head_dim = 144,
                       .seqlen_q = 40,
                       .seqlen_kv = 64,
                       .batch = 1,
                       .heads = 1,
                       .kv_heads = 1,
                       .alignment = 4}));
  list.push_back(make({.name = "fa2 one masked block, odd values",
                       .config = {.tile_m = 32, .tile_n = 64, .warps = 2, .stages = 2},
                       .seqlen_q = 30,
                       .seqlen_kv = 62,
                       .batch = 1,
                       .heads = 1,
                       .kv_heads = 1,
                       .bad_values = 30}));
  // Key 64 has one in the first column, key 95 in the last.
  const Recipe one_value{.name = "fa2 one odd value, in the first column",
                         .config = {.tile_m = 16, .tile_n = 32, .warps = 1, .stages = 2},
                         .seqlen_q = 16,
                         .seqlen_kv = 65,
                         .batch = 1,
                         .heads = 1,
                         .kv_heads = 1,
                         .bad_values = 1};
  list.push_back(make(one_value));
  list.push_back(make(with(one_value, [](Recipe& recipe) {
    recipe.name = "fa2 one odd value, in the last column";
    recipe.seqlen_kv = 96;
  })));
  list.push_back(make({.name = "fa2 one block of three stages",
                       .config = {.tile_m = 16, .tile_n = 32, .warps = 1, .stages = 3},
                       .head_dim = 16,
                       .mask = MaskKind::kFull,
                       .seqlen_q = 16,
                       .seqlen_kv = 32,
                       .batch = 1,
                       .heads = 1,
                       .kv_heads = 1}));
  list.push_back(make({.name = "fa2 eight chains of sums",
                       .config = {.tile_m = 16, .tile_n = 16, .warps = 1, .stages = 1},
                       .head_dim = 256,
                       .mask = MaskKind::kFull,
                       .seqlen_q = 48,
                       .seqlen_kv = 40,
                       .batch = 1,
                       .heads = 1,
                       .kv_heads = 1,
                       .logit_factor = 40,
                       .inputs = InputKind::kLargeLogits}));
  list.push_back(make(
      {.name = "fa2 wide",
       .config = {.tile_m = 16, .tile_n = 96, .warps = 1, .stages = 3, .query_in_registers = true},
       .head_dim = 16,
       .mask = MaskKind::kFull,
       .seqlen_q = 20,
       .seqlen_kv = 191,
       .batch = 1,
       .heads = 1,
       .kv_heads = 1}));
}

}  // namespace heddle::mutation
