#include "tests/mutation/recipe.hpp"

namespace heddle::mutation {

/// fa3 walks from the last key to the first: negative rises are rises.
void add_checked_sums(Problems& list) {
  const Recipe plain{.name = "fa3 checked sums, rows that jump",
                     .config = {.family = Family::kFa3,
                                .tile_m = 64,
                                .tile_n = 16,
                                .warps = 4,
                                .stages = 2,
                                .running_max = RunningMax::kCheckedSum},
                     .mask = MaskKind::kFull,
                     .seqlen_q = 45,
                     .seqlen_kv = 299,
                     .batch = 1,
                     .heads = 2,
                     .kv_heads = 1,
                     .inputs = InputKind::kJumps,
                     .rise = -110};
  const Recipe late = with(plain, [](Recipe& recipe) {
    recipe.name = "fa3 checked sums, half of the rows jump at the end";
    recipe.inputs = InputKind::kNormal, recipe.late = 120, recipe.dtype = DataType::kFp16;
    recipe.seqlen_q = 30, recipe.seqlen_kv = 16 * 21;
  });
  list.push_back(make(late));
  list.push_back(make(with(late, [](Recipe& recipe) {
    recipe.name = "fa3 checked sums, all rows jump at the end";
    recipe.all_late = true, recipe.heads = 1, recipe.config.tile_n = 32;
    recipe.seqlen_kv = 32 * 17;
  })));
  list.push_back(make(plain));
  list.push_back(make(with(plain, [](Recipe& recipe) {
    recipe.name = "fa3 checked sums, rows that jump less, several tiles a block";
    recipe.config.scheduler = TileScheduler::kStatic, recipe.multiprocessors = 1;
    recipe.seqlen_q = 100;
    recipe.rise = -30, recipe.dtype = DataType::kFp16, recipe.head_dim = 40;
  })));
  list.push_back(make(with(plain, [](Recipe& recipe) {
    recipe.name = "fa3 checked sums, causal, two chains, odd values";
    recipe.mask = MaskKind::kCausal, recipe.head_dim = 136, recipe.kv_heads = 2;
    recipe.config.tile_m = 128, recipe.config.warps = 8, recipe.batch = 2;
    recipe.seqlen_q = 90, recipe.seqlen_kv = 190, recipe.bad_values = 100;
  })));
  list.push_back(make(with(plain, [](Recipe& recipe) {
    recipe.name = "fa3 checked sums, rising fast";
    recipe.inputs = InputKind::kRising, recipe.rise = -700;
  })));
  list.push_back(make(with(plain, [](Recipe& recipe) {
    recipe.name = "fa3 checked sums, rising slowly";
    recipe.inputs = InputKind::kRising, recipe.rise = -20, recipe.dtype = DataType::kFp16;
  })));
  list.push_back(make(with(plain, [](Recipe& recipe) {
    recipe.name = "fa3 checked sums, spikes";
    recipe.inputs = InputKind::kSpikes, recipe.rise = -400, recipe.seqlen_kv = 530;
  })));
  list.push_back(make(with(plain, [](Recipe& recipe) {
    recipe.name = "fa3 checked sums, mask hook";
    recipe.hook = Hook::kMask, recipe.seqlen_q = 150, recipe.bad_values = 40;
  })));
  list.push_back(make(with(plain, [](Recipe& recipe) {
    recipe.name = "fa3 checked sums, score hook";
    recipe.hook = Hook::kScore, recipe.seqlen_q = 150, recipe.batch = recipe.kv_heads = 2;
  })));
}

}  // namespace heddle::mutation
