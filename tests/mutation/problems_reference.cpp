#include "tests/mutation/recipe.hpp"

namespace heddle::mutation {

void add_reference(Problems& list) {
  const Recipe plain{.name = "reference causal",
                     .config = {.family = Family::kReference,
                                .tile_m = 32,
                                .tile_n = 32,
                                .reference = ReferenceKind::kBaseline},
                     .head_dim = 40,
                     .seqlen_q = 35,
                     .seqlen_kv = 68,
                     .heads = 2,
                     .kv_heads = 2};
  list.push_back(make(plain));
  list.push_back(make(with(plain, [](Recipe& recipe) {
    recipe.name = "reference full";
    recipe.mask = MaskKind::kFull, recipe.dtype = DataType::kFp16;
    recipe.inputs = InputKind::kNormal, recipe.alignment = 2, recipe.batch = 1;
  })));
  list.push_back(make(with(plain, [](Recipe& recipe) {
    recipe.name = "reference odd values";
    recipe.bad_values = 40, recipe.batch = 1, recipe.kv_heads = 1;
  })));
  list.push_back(make(with(plain, [](Recipe& recipe) {
    recipe.name = "reference rows without keys";
    recipe.seqlen_q = 50, recipe.seqlen_kv = 33, recipe.batch = 1;
  })));
  list.push_back(make(with(plain, [](Recipe& recipe) {
    recipe.name = "reference steep";
    recipe.inputs = InputKind::kLargeLogits, recipe.logit_factor = 40;
    recipe.seqlen_q = 32, recipe.seqlen_kv = 64, recipe.bad_values = 20;
    recipe.batch = 1, recipe.heads = 1, recipe.kv_heads = 1;
  })));
  list.push_back(make(with(plain, [](Recipe& recipe) {
    recipe.name = "reference no keys";
    recipe.seqlen_kv = 0;
  })));
  list.push_back(make(with(plain, [](Recipe& recipe) {
    recipe.name = "reference score hook";
    recipe.mask = MaskKind::kFull, recipe.hook = Hook::kScore, recipe.batch = 2, recipe.heads = 2;
    recipe.kv_heads = 2;
    recipe.seqlen_kv = 96;
  })));
  list.push_back(make(with(plain, [](Recipe& recipe) {
    recipe.name = "reference mask hook";
    recipe.mask = MaskKind::kFull, recipe.hook = Hook::kMask, recipe.batch = 1, recipe.heads = 2;
    recipe.bad_values = 40;
  })));
}

}  // namespace heddle::mutation
