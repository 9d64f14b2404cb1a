// The lazy maximum: what integers say of a row's scores, and what the warp's vote gates. In fp16 a
// row that should have followed and did not overflows.
#include "tests/mutation/recipe.hpp"

namespace heddle::mutation {
namespace {

/// Queries 48 to 55, rows of the second tile of a warp, meet their key before 32 to 47 do.
Recipe two_row_tiles() {
  return {.name = "fa2 lazy, two row tiles, one hot",
          .config = {.tile_m = 64, .tile_n = 16, .warps = 2, .stages = 2},
          .dtype = DataType::kFp16,
          .head_dim = 48,
          .mask = MaskKind::kFull,
          .seqlen_q = 70,
          .seqlen_kv = 81,
          .batch = 1,
          .heads = 1,
          .kv_heads = 1,
          .inputs = InputKind::kOneHot};
}

Recipe below_zero() {
  return {.name = "fa2 lazy, logits below zero",
          .config = {.tile_m = 32, .tile_n = 16, .warps = 2, .stages = 2},
          .dtype = DataType::kFp16,
          .mask = MaskKind::kFull,
          .seqlen_q = 40,
          .seqlen_kv = 130,
          .batch = 1,
          .heads = 1,
          .kv_heads = 1,
          .logit_factor = 60,
          .below_zero = true};
}

/// The jump is large of logits, and small of scores before they are scaled.
Recipe late() {
  return {.name = "fa3 lazy, half of the rows jump at the end",
          .config = {.family = Family::kFa3, .tile_m = 64, .tile_n = 16, .warps = 4, .stages = 2},
          .dtype = DataType::kFp16,
          .mask = MaskKind::kFull,
          .seqlen_q = 30,
          .seqlen_kv = 16 * 8,
          .batch = 1,
          .heads = 2,
          .kv_heads = 1,
          .scale = 4,
          .late = 120};
}

}  // namespace

void add_lazy(Problems& list) {
  list.push_back(make(two_row_tiles()));
  list.push_back(make(below_zero()));
  list.push_back(make(late()));
  list.push_back(make(with(late(), [](Recipe& recipe) {
    recipe.name = "fa3 lazy, all rows jump at the end";
    recipe.all_late = true, recipe.heads = 1, recipe.seqlen_q = 32;
  })));
}

}  // namespace heddle::mutation
