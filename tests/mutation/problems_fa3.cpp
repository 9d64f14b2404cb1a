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

/// Tiles that blocks draw, turns, O by TMA, hidden blocks skipped.
void add_knobs(Problems& list) {
  // The first tile has no keys, some rows of the second neither; the last has rows of one team.
  const Recipe drawn{.name = "fa3 causal, tiles drawn, turns, O by TMA",
                     .config = {.family = Family::kFa3,
                                .tile_m = 128,
                                .tile_n = 32,
                                .warps = 8,
                                .stages = 2,
                                .query_stages = 2,
                                .scheduler = TileScheduler::kDynamic,
                                .ping_pong = true,
                                .tma_store = true},
                     .head_dim = 72,
                     .seqlen_q = 300,
                     .seqlen_kv = 150,
                     .batch = 1,
                     .heads = 2,
                     .kv_heads = 1,
                     .multiprocessors = 2};
  list.push_back(make(drawn));
  list.push_back(make(with(drawn, [](Recipe& recipe) {
    recipe.name = "fa3 causal, tiles drawn, O by TMA, odd values";
    recipe.config.query_stages = 1, recipe.config.longest_first = false;
    recipe.seqlen_q = recipe.seqlen_kv = 140;
    recipe.heads = recipe.kv_heads = 2, recipe.head_dim = 40;
    recipe.bad_values = 130;
  })));
  list.push_back(make(with(drawn, [](Recipe& recipe) {
    recipe.name = "fa3 full, three teams, one slot of queries";
    recipe.config.tile_m = 192, recipe.config.warps = 12, recipe.config.query_stages = 1;
    recipe.mask = MaskKind::kFull, recipe.inputs = InputKind::kRising;
    recipe.seqlen_q = 250, recipe.seqlen_kv = 70, recipe.heads = 2, recipe.head_dim = 16;
    recipe.dtype = DataType::kFp16;
  })));
  // Rings of the guard's bell run ahead of it.
  list.push_back(make(with(drawn, [](Recipe& recipe) {
    recipe.name = "fa3 causal, many tiles without keys";
    recipe.config.tile_m = 64, recipe.config.warps = 4, recipe.config.tile_n = 16;
    recipe.config.ping_pong = recipe.config.longest_first = false;
    recipe.seqlen_q = 400, recipe.seqlen_kv = 20, recipe.heads = 3, recipe.head_dim = 16;
    recipe.multiprocessors = 1;
  })));
  // Each tile is spoilt: by short ones the producer runs as far ahead as it can.
  const Recipe spoilt = with(drawn, [](Recipe& recipe) {
    recipe.name = "fa3 causal, spoilt tiles on a walk, one slot of queries";
    recipe.config.tile_m = 64, recipe.config.warps = 4, recipe.config.stages = 4;
    recipe.config.scheduler = TileScheduler::kStatic, recipe.config.query_stages = 1;
    recipe.config.ping_pong = recipe.config.tma_store = recipe.config.longest_first = false;
    recipe.seqlen_q = recipe.seqlen_kv = 100, recipe.heads = recipe.kv_heads = 6;
    recipe.head_dim = 16, recipe.multiprocessors = 1;
    recipe.bad_values = 99;
  });
  list.push_back(make(spoilt));
  list.push_back(make(with(spoilt, [](Recipe& recipe) {
    recipe.name = "fa3 causal, spoilt tiles on a walk, two slots of queries, O by TMA";
    recipe.config.query_stages = 2, recipe.config.tma_store = true;
    recipe.config.scheduler = TileScheduler::kDynamic;
  })));
  list.push_back(make(with(spoilt, [](Recipe& recipe) {
    recipe.name = "fa3 causal, the third tile of a walk spoilt, in its last column";
    recipe.seqlen_q = recipe.seqlen_kv = 192, recipe.heads = recipe.kv_heads = 1;
    recipe.config.stages = 3;
    recipe.bad_values = 1;
  })));
  const Recipe skips = with(drawn, [](Recipe& recipe) {
    recipe.name = "fa3 causal, hidden blocks skipped by three teams";
    recipe.config.tile_m = 192, recipe.config.warps = 12, recipe.config.tile_n = 64;
    recipe.config.skip_masked = true;
    recipe.seqlen_q = 200, recipe.seqlen_kv = 262, recipe.head_dim = 24;
    recipe.bad_values = 200;
  });
  list.push_back(make(skips));
  list.push_back(make(with(skips, [](Recipe& recipe) {
    recipe.name = "fa3 causal, a team without keys, another without rows";
    recipe.config.tile_n = 80, recipe.config.tma_store = false, recipe.bad_values = 0;
    recipe.config.scheduler = TileScheduler::kTilePerBlock, recipe.config.query_stages = 1;
    recipe.seqlen_q = 290, recipe.seqlen_kv = 170, recipe.heads = 1;
  })));
}

/// The last query of a team sees one key of its last block; the last team has one row.
void add_edges(Problems& list) {
  const Recipe one_key{.name = "fa3 causal, one key in a team's last block",
                       .config = {.family = Family::kFa3,
                                  .tile_m = 128,
                                  .tile_n = 64,
                                  .warps = 8,
                                  .stages = 2,
                                  .tma_store = true,
                                  .skip_masked = true},
                       .head_dim = 16,
                       .seqlen_q = 193,
                       .seqlen_kv = 194,
                       .batch = 1,
                       .heads = 1,
                       .kv_heads = 1};
  list.push_back(make(one_key));
  list.push_back(make(with(one_key, [](Recipe& recipe) {
    recipe.name = "fa3 the longest key tile";
    recipe.config.tile_m = 64, recipe.config.warps = 4, recipe.config.tile_n = 256;
    recipe.config.skip_masked = false;
    recipe.mask = MaskKind::kFull, recipe.seqlen_q = 40, recipe.seqlen_kv = 300;
  })));
}

/// Head dimensions of two chains of sums.
void add_wide(Problems& list) {
  const Recipe wide{.name = "fa3 two chains",
                    .config = {.family = Family::kFa3,
                               .tile_m = 128,
                               .tile_n = 16,
                               .warps = 8,
                               .stages = 2,
                               .tma_store = true},
                    .head_dim = 136,
                    .seqlen_q = 70,
                    .seqlen_kv = 45,
                    .batch = 1,
                    .heads = 1,
                    .kv_heads = 1,
                    .inputs = InputKind::kLargeLogits};
  list.push_back(make(wide));
  list.push_back(make(with(wide, [](Recipe& recipe) {
    recipe.name = "fa3 two chains, several tiles a block";
    recipe.config.tile_m = 64, recipe.config.warps = 4, recipe.config.tma_store = false;
    recipe.config.scheduler = TileScheduler::kStatic;
    recipe.mask = MaskKind::kFull, recipe.head_dim = 248, recipe.heads = 2;
    recipe.multiprocessors = 1, recipe.inputs = InputKind::kRising;
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
  for (const int slots : {1, 2}) {
    Recipe tiles = plain;
    tiles.name = slots == 1 ? "fa3 odd values, tiles in turn" : "fa3 odd values, tiles ahead";
    tiles.config.scheduler = TileScheduler::kStatic, tiles.config.query_stages = slots;
    tiles.config.tile_n = 48 - 16 * slots;
    tiles.multiprocessors = 1, tiles.bad_values = 80;
    tiles.head_dim = 24, tiles.heads = 2, tiles.seqlen_q = 130;
    list.push_back(make(tiles));
  }
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
  add_fa3_large(list);
  add_fa3_switches(list);
  add_fa3_decode(list);
  add_knobs(list);
  add_walks(list);
  add_edges(list);
  add_wide(list);
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
    recipe.name = "fa3 shared keys and values";
    recipe.mask = MaskKind::kFull, recipe.shared_keys = true;
    recipe.batch = recipe.heads = recipe.kv_heads = 2;
    recipe.seqlen_q = 20, recipe.seqlen_kv = 40;
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
  const Recipe lazy{.name = "fa3 dominated rows",
                    .config = {.family = Family::kFa3, .tile_m = 64, .tile_n = 16, .warps = 4},
                    .mask = MaskKind::kFull,
                    .batch = 1,
                    .heads = 2,
                    .kv_heads = 1,
                    .inputs = InputKind::kLargeLogits,
                    .dominated = true};
  list.push_back(make(lazy));
  list.push_back(make(with(lazy, [](Recipe& recipe) {
    recipe.name = "fa3 gently rising";
    recipe.inputs = InputKind::kRising, recipe.logit_factor = 0.07;
    recipe.seqlen_kv = 161, recipe.dominated = false;
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
