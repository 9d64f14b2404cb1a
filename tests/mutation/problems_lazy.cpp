// The lazy maximum: what integers say of a row's scores, and what the warp's vote gates. In fp16 a
// row that should have followed and did not overflows.
#include "tests/mutation/recipe.hpp"

namespace heddle::mutation {

void add_lazy(Problems& list) {
  list.push_back(make({.name = "fa2 lazy, two row tiles, one hot",
                       .config = {.tile_m = 64, .tile_n = 16, .warps = 2, .stages = 2},
                       .dtype = DataType::kFp16,
                       .head_dim = 72,
                       .mask = MaskKind::kFull,
                       .seqlen_q = 70,
                       .seqlen_kv = 81,
                       .batch = 1,
                       .heads = 1,
                       .kv_heads = 1,
                       .inputs = InputKind::kOneHot}));
  list.push_back(make({.name = "fa2 lazy, logits below zero",
                       .config = {.tile_m = 32, .tile_n = 32, .warps = 2, .stages = 2},
                       .dtype = DataType::kFp16,
                       .seqlen_q = 40,
                       .seqlen_kv = 90,
                       .batch = 1,
                       .heads = 1,
                       .kv_heads = 1,
                       .logit_factor = 10,
                       .below_zero = true}));
  // The jump is large of logits, and small of scores before they are scaled.
  list.push_back(
      make({.name = "fa3 lazy, half of the rows jump at the end",
            .config = {.family = Family::kFa3, .tile_m = 64, .tile_n = 16, .warps = 4, .stages = 2},
            .dtype = DataType::kFp16,
            .mask = MaskKind::kFull,
            .seqlen_q = 30,
            .seqlen_kv = 16 * 8,
            .batch = 1,
            .heads = 2,
            .kv_heads = 1,
            .scale = 4,
            .late = 120}));
}

}  // namespace heddle::mutation
