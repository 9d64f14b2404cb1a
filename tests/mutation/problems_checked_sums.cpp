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
  // Far beyond what a probability may be, and just beyond what its sum allows.
  for (const double late : {120.0, 7.0}) {
    Recipe rows = plain;
    rows.name = late > 100 ? "fa3 checked sums, half of the rows jump at the end"
                           : "fa3 checked sums, half of the rows rise at the end";
    rows.inputs = InputKind::kNormal, rows.late = late, rows.dtype = DataType::kFp16;
    rows.seqlen_q = 30, rows.seqlen_kv = 16 * 21;
    list.push_back(make(rows));
  }
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
    recipe.seqlen_q = 150, recipe.seqlen_kv = 230, recipe.bad_values = 140;
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
