#include "tests/mutation/recipe.hpp"

namespace heddle::mutation {

void add_unfused(Problems& list) {
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
  // The softmax has five ways: up to 256, 512, 1024, 4096 keys, and beyond.
  list.push_back(make(with(plain, [](Recipe& recipe) {
    recipe.name = "unfused 256 keys, steep";
    recipe.seqlen_q = 45, recipe.seqlen_kv = 256;
    recipe.batch = 1, recipe.heads = 1, recipe.kv_heads = 1;
    recipe.inputs = InputKind::kLargeLogits, recipe.logit_factor = 40;
  })));
  list.push_back(make(with(plain, [](Recipe& recipe) {
    recipe.name = "unfused 257 keys";
    recipe.seqlen_q = 5, recipe.seqlen_kv = 257;
    recipe.batch = 1, recipe.heads = 1, recipe.kv_heads = 1;
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
    recipe.name = "unfused 4097 keys";
    recipe.seqlen_q = 3, recipe.seqlen_kv = 4097;
    recipe.batch = 1, recipe.heads = 1, recipe.kv_heads = 1;
  })));
  list.push_back(make(with(plain, [](Recipe& recipe) {
    recipe.name = "unfused 4104 keys";
    recipe.seqlen_q = 35, recipe.seqlen_kv = 4104;
    recipe.batch = 1, recipe.heads = 1, recipe.kv_heads = 1;
  })));
  list.push_back(make(with(deep, [](Recipe& recipe) {
    recipe.name = "unfused odd values at the end of full rows";
    recipe.inputs = InputKind::kLargeLogits, recipe.logit_factor = 4;
    recipe.bad_values = 2;
    recipe.heads = 2;
    recipe.seqlen_kv = 50;
  })));
  list.push_back(make(with(plain, [](Recipe& recipe) {
    recipe.name = "unfused odd values in the masked block alone";
    recipe.batch = 1, recipe.heads = 1, recipe.kv_heads = 1;
    recipe.seqlen_q = 32, recipe.seqlen_kv = 96, recipe.bad_values = 32;
  })));
  list.push_back(make(with(plain, [](Recipe& recipe) {
    recipe.name = "unfused odd value that one row sees";
    recipe.batch = 1, recipe.heads = 1, recipe.kv_heads = 1, recipe.bad_values = 14;
  })));
  list.push_back(make(with(plain, [](Recipe& recipe) {
    recipe.name = "unfused one row for the softmax's last block";
    recipe.seqlen_q = 33, recipe.seqlen_kv = 40;
    recipe.batch = 1, recipe.heads = 1, recipe.kv_heads = 1;
  })));
  // The scores of 72 keys fill their pitch. Behind the row of P lies half of a score: in fp16 one
  // in 32 such halves is not finite.
  list.push_back(make(
      {.name = "unfused full pitch",
       .config = {.family = Family::kUnfused, .tile_m = 64, .tile_n = 64, .warps = 2, .stages = 2},
       .dtype = DataType::kFp16,
       .head_dim = 16,
       .mask = MaskKind::kFull,
       .seqlen_q = 128,
       .seqlen_kv = 72,
       .batch = 1,
       .heads = 2,
       .kv_heads = 2}));
  list.push_back(make(
      {.name = "unfused deep",
       .config = {.family = Family::kUnfused, .tile_m = 16, .tile_n = 32, .warps = 2, .stages = 2},
       .head_dim = 160,
       .mask = MaskKind::kFull,
       .seqlen_q = 40,
       .batch = 1,
       .kv_heads = 4,
       .alignment = 2}));
}

}  // namespace heddle::mutation
