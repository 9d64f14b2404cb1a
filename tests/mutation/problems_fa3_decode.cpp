// fa3 with heads packed into the rows of a tile, and with split keys.
#include "tests/mutation/recipe.hpp"

namespace heddle::mutation {

void add_fa3_decode(Problems& list) {
  // 21 queries of three heads fill all but one row; the second tile has rows that do not exist.
  const Recipe packed{.name = "fa3 packed, split, causal, odd values",
                      .config = {.family = Family::kFa3,
                                 .tile_m = 64,
                                 .tile_n = 16,
                                 .warps = 4,
                                 .stages = 2,
                                 .split_kv = true,
                                 .query_stages = 2,
                                 .scheduler = TileScheduler::kDynamic,
                                 .pack_gqa = true},
                      .head_dim = 40,
                      .seqlen_q = 25,
                      .seqlen_kv = 50,
                      .batch = 2,
                      .heads = 6,
                      .kv_heads = 2,
                      .num_splits = 3,
                      .bad_values = 12,
                      .multiprocessors = 2};
  list.push_back(make(packed));
  list.push_back(make(with(packed, [](Recipe& recipe) {
    recipe.name = "fa3 packed, a pack of one head less";
    recipe.config.split_kv = false, recipe.num_splits = 0, recipe.bad_values = 0;
    recipe.mask = MaskKind::kFull, recipe.inputs = InputKind::kOneHot;
    recipe.heads = 130, recipe.batch = 1, recipe.seqlen_q = 2, recipe.seqlen_kv = 20;
    recipe.head_dim = 16;
  })));
  list.push_back(make(with(packed, [](Recipe& recipe) {
    recipe.name = "fa3 packed, several teams, hidden blocks skipped";
    recipe.config.tile_m = 128, recipe.config.warps = 8, recipe.config.split_kv = false;
    recipe.config.skip_masked = true, recipe.num_splits = 0, recipe.head_dim = 24;
    recipe.config.scheduler = TileScheduler::kTilePerBlock, recipe.config.query_stages = 1;
    recipe.batch = recipe.kv_heads = 1, recipe.heads = 5, recipe.seqlen_q = 70;
    recipe.seqlen_kv = 90, recipe.bad_values = 30;
  })));
  list.push_back(make(with(packed, [](Recipe& recipe) {
    recipe.name = "fa3 split, more queries than keys";
    recipe.config.tile_m = 128, recipe.config.warps = 8, recipe.config.pack_gqa = false;
    recipe.config.longest_first = false, recipe.num_splits = 2, recipe.batch = 1;
    recipe.heads = 2, recipe.kv_heads = 2, recipe.head_dim = 72, recipe.seqlen_q = 150;
    recipe.seqlen_kv = 60, recipe.bad_values = 5;
  })));
  list.push_back(make(with(packed, [](Recipe& recipe) {
    recipe.name = "fa3 packed, splits without keys";
    recipe.mask = MaskKind::kFull, recipe.num_splits = 4, recipe.bad_values = 0;
    recipe.config.scheduler = TileScheduler::kTilePerBlock;
    recipe.seqlen_kv = 33, recipe.seqlen_q = 3, recipe.inputs = InputKind::kRising;
  })));
  list.push_back(make(with(packed, [](Recipe& recipe) {
    recipe.name = "fa3 packed, more splits than lanes";
    recipe.mask = MaskKind::kFull, recipe.num_splits = 43, recipe.bad_values = 0;
    recipe.batch = recipe.kv_heads = 1, recipe.heads = 3, recipe.seqlen_q = 2;
    recipe.seqlen_kv = 43 * 16, recipe.head_dim = 72, recipe.inputs = InputKind::kNormal;
  })));
  list.push_back(make(with(packed, [](Recipe& recipe) {
    recipe.name = "fa3 packed, mask hook";
    recipe.config.split_kv = false, recipe.num_splits = 0, recipe.mask = MaskKind::kFull;
    recipe.hook = Hook::kMask, recipe.bad_values = 20, recipe.seqlen_q = 9;
  })));
}

}  // namespace heddle::mutation
