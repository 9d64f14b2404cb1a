#include "tests/mutation/recipe.hpp"

namespace heddle::mutation {

/// Products that wait for each other; warps that load between their own steps.
void add_fa3_switches(Problems& list) {
  const Recipe waits{.name = "fa3 causal, no overlap, turns, odd values",
                     .config = {.family = Family::kFa3,
                                .tile_m = 128,
                                .tile_n = 16,
                                .warps = 8,
                                .stages = 2,
                                .ping_pong = true,
                                .overlap = Overlap::kNone},
                     .head_dim = 24,
                     .seqlen_q = 130,
                     .seqlen_kv = 130,
                     .batch = 1,
                     .heads = 1,
                     .kv_heads = 1,
                     .bad_values = 100};
  list.push_back(make(waits));
  const Recipe loads = with(waits, [](Recipe& recipe) {
    recipe.name = "fa3 no producer, turns, O by TMA, several tiles a block";
    recipe.config.overlap = Overlap::kIntraWarpgroup, recipe.config.warp_specialized = false;
    recipe.config.scheduler = TileScheduler::kStatic, recipe.config.query_stages = 2;
    recipe.config.tma_store = true;
    recipe.mask = MaskKind::kFull, recipe.inputs = InputKind::kRising, recipe.bad_values = 0;
    recipe.batch = 2, recipe.heads = 4, recipe.kv_heads = 2, recipe.multiprocessors = 2;
    recipe.seqlen_kv = 100;
  });
  list.push_back(make(loads));
  list.push_back(make(with(loads, [](Recipe& recipe) {
    recipe.name = "fa3 no producer, rings of three ahead of short tiles";
    recipe.config.stages = 3, recipe.config.query_stages = 1, recipe.config.tma_store = false;
    recipe.config.ping_pong = false, recipe.config.overlap = Overlap::kNone;
    recipe.seqlen_kv = 30;
  })));
  list.push_back(make(with(loads, [](Recipe& recipe) {
    recipe.name = "fa3 no producer, no keys";
    recipe.seqlen_kv = 0;
  })));
  list.push_back(make(with(loads, [](Recipe& recipe) {
    recipe.name = "fa3 no producer, one team, a block for each tile";
    recipe.config.tile_m = 64, recipe.config.warps = 4, recipe.config.stages = 4;
    recipe.config.scheduler = TileScheduler::kTilePerBlock, recipe.config.query_stages = 1;
    recipe.config.ping_pong = recipe.config.tma_store = false;
    recipe.batch = 1, recipe.heads = recipe.kv_heads = 2, recipe.multiprocessors = 0;
  })));
}

}  // namespace heddle::mutation
