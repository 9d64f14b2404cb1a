#include "tests/mutation/recipe.hpp"

namespace heddle::mutation {

namespace {

/// What moves a block from tile to tile.
void add_walks(Problems& list) {
  const Recipe walk{.name = "fa3 full, several tiles a block, one hot",
                    .config = {.family = Family::kFa3,
                               .tile_m = 128,
                               .tile_n = 16,
                               .warps = 8,
                               .stages = 3,
                               .running_max = RunningMax::kEveryBlock,
                               .query_stages = 2,
                               .scheduler = TileScheduler::kStatic},
                    .dtype = DataType::kFp16,
                    .head_dim = 72,
                    .mask = MaskKind::kFull,
                    .seqlen_q = 150,
                    .seqlen_kv = 50,
                    .batch = 2,
                    .heads = 2,
                    .kv_heads = 1,
                    .inputs = InputKind::kOneHot,
                    .multiprocessors = 2};
  list.push_back(make(walk));
  const Recipe longest = with(walk, [](Recipe& recipe) {
    recipe.name = "fa3 causal, several tiles a block, longest first";
    recipe.config.tile_m = 64, recipe.config.warps = 4, recipe.config.query_stages = 1;
    recipe.mask = MaskKind::kCausal, recipe.inputs = InputKind::kRising, recipe.head_dim = 24;
    recipe.heads = 6, recipe.kv_heads = 2, recipe.multiprocessors = 3;
    recipe.seqlen_q = 140, recipe.seqlen_kv = 60;
  });
  list.push_back(make(longest));
  list.push_back(make(with(longest, [](Recipe& recipe) {
    recipe.name = "fa3 causal, groups of two heads, the last of one";
    recipe.heads = recipe.kv_heads = 3, recipe.batch = 1;
    recipe.small_cache = true;
  })));
  list.push_back(make(with(longest, [](Recipe& recipe) {
    recipe.name = "fa3 causal, keys of a head beyond the cache";
    recipe.heads = recipe.kv_heads = 2, recipe.batch = 1, recipe.head_dim = 72;
    recipe.small_cache = true;
  })));
}

/// Values that are not finite.
void add_odd_values(Problems& list, const Recipe& plain) {
  list.push_back(make(with(plain, [](Recipe& recipe) {
    recipe.name = "fa3 odd values";
    recipe.batch = 2, recipe.kv_heads = 2;
    recipe.bad_values = 80;
  })));
  list.push_back(make(with(plain, [](Recipe& recipe) {
    recipe.name = "fa3 odd values in every 16 bytes";
    recipe.config.tile_n = 64, recipe.seqlen_q = recipe.seqlen_kv = 64;
    recipe.batch = recipe.kv_heads = 2;
    recipe.bad_values = 60, recipe.dense = true;
  })));
  // Key 64 has one in the first column, key 95 in the last.
  const Recipe one_value = with(plain, [](Recipe& recipe) {
    recipe.name = "fa3 one odd value, in the first column";
    recipe.head_dim = 32, recipe.seqlen_q = 16, recipe.seqlen_kv = 65, recipe.heads = 1;
    recipe.bad_values = 1;
  });
  list.push_back(make(one_value));
  list.push_back(make(with(one_value, [](Recipe& recipe) {
    recipe.name = "fa3 one odd value, in the last column";
    recipe.seqlen_kv = 96;
  })));
}

}  // namespace

void add_fa3(Problems& list) {
  const Recipe plain{
      .name = "fa3 causal",
      .config = {.family = Family::kFa3, .tile_m = 64, .tile_n = 32, .warps = 4, .stages = 2},
      .head_dim = 40,
      .seqlen_q = 70,
      .seqlen_kv = 99,
      .batch = 1,
      .heads = 2,
      .kv_heads = 1};
  list.push_back(make(plain));
  add_walks(list);
  add_odd_values(list, plain);
  list.push_back(make(with(plain, [](Recipe& recipe) {
    recipe.name = "fa3 no keys";
    recipe.seqlen_kv = 0;
  })));
  list.push_back(make(with(plain, [](Recipe& recipe) {
    recipe.name = "fa3 one key";
    recipe.seqlen_kv = 1, recipe.head_dim = 56;
  })));
  list.push_back(make(with(plain, [](Recipe& recipe) {
    recipe.name = "fa3 score hook";
    recipe.mask = MaskKind::kFull, recipe.hook = Hook::kScore, recipe.batch = 2, recipe.heads = 2;
    recipe.kv_heads = 2;
  })));
  list.push_back(make(with(plain, [](Recipe& recipe) {
    recipe.name = "fa3 mask hook";
    recipe.mask = MaskKind::kFull, recipe.hook = Hook::kMask, recipe.heads = 1;
    recipe.bad_values = 40;
  })));
  list.push_back(
      make({.name = "fa3 long rows of sums",
            .config = {.family = Family::kFa3, .tile_m = 64, .tile_n = 16, .warps = 4, .stages = 1},
            .head_dim = 128,
            .mask = MaskKind::kFull,
            .seqlen_q = 48,
            .seqlen_kv = 40,
            .batch = 1,
            .heads = 1,
            .kv_heads = 1,
            .logit_factor = 40,
            .inputs = InputKind::kLargeLogits}));
  list.push_back(make(
      {.name = "fa3 long sums, rising",
       .config = {.family = Family::kFa3, .tile_m = 128, .tile_n = 64, .warps = 8, .stages = 2},
       .head_dim = 128,
       .mask = MaskKind::kFull,
       .seqlen_q = 128,
       .seqlen_kv = 192,
       .batch = 1,
       .heads = 1,
       .kv_heads = 1,
       .inputs = InputKind::kRising}));
  for (const int teams : {3, 4}) {
    list.push_back(make({.name = teams == 3 ? "fa3 three teams" : "fa3 four teams",
                         .config = {.family = Family::kFa3,
                                    .tile_m = 64 * teams,
                                    .tile_n = 16,
                                    .warps = 4 * teams,
                                    .stages = 2},
                         .head_dim = 16,
                         .seqlen_q = 64 * teams - 5,
                         .seqlen_kv = 64 * teams,
                         .batch = 1,
                         .heads = 1,
                         .kv_heads = 1}));
  }
}

}  // namespace heddle::mutation
