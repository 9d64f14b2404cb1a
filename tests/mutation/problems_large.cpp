// Logits beyond what the main loops can take. Large ones show what is worked out again wrongly, for
// the reference is exact there and still has neighbours of the largest logit; huge ones show what
// is not worked out again at all, for the main loop leaves 0 or NaN.
#include "tests/mutation/recipe.hpp"

namespace heddle::mutation {
namespace {

constexpr double kLarge = 4096;
constexpr double kLarger = 1 << 20;  // its base has a residue that moves weights by percents
constexpr double kHuge = 0x1p40;

void make_large(Recipe& recipe) {
  recipe.scale = 0.25, recipe.offset = kLarge;
  recipe.dtype = DataType::kFp16;
}

void make_huge(Recipe& recipe) {
  recipe.scale = recipe.offset = kHuge;
}

/// The last query of the first tile sees one key of the last block.
const Recipe kPlain{.name = "fa2 large logits",
                    .config = {.tile_m = 32, .tile_n = 16, .warps = 2, .stages = 2},
                    .head_dim = 40,
                    .seqlen_q = 37,
                    .seqlen_kv = 54,
                    .batch = 2,
                    .heads = 2,
                    .kv_heads = 1};

}  // namespace

void add_fa2_large(Problems& list) {
  list.push_back(make(with(kPlain, make_large)));
  list.push_back(make(with(kPlain, [](Recipe& recipe) {
    recipe.name = "fa2 huge logits, rows without keys";
    make_huge(recipe);
    recipe.batch = 1, recipe.seqlen_q = 41, recipe.seqlen_kv = 34;
  })));
  const Recipe split = with(kPlain, [](Recipe& recipe) {
    recipe.name = "fa2 split, large logits";
    recipe.config.split_kv = true, recipe.config.warps = 1;
    recipe.scale = 0.25, recipe.offset = kLarger;
    recipe.batch = 1, recipe.seqlen_kv = 100, recipe.num_splits = 3;
  });
  list.push_back(make(split));
  list.push_back(make(with(split, [](Recipe& recipe) {
    recipe.name = "fa2 split, huge logits";
    make_huge(recipe);
    recipe.heads = 1, recipe.seqlen_q = 20, recipe.seqlen_kv = 45, recipe.num_splits = 2;
  })));
  list.push_back(make(with(kPlain, [](Recipe& recipe) {
    recipe.name = "fa2 large logits, score hook";
    make_large(recipe);
    recipe.mask = MaskKind::kFull, recipe.hook = Hook::kLargeScore, recipe.kv_heads = 2;
    recipe.dtype = DataType::kBf16;
  })));
  list.push_back(make(with(kPlain, [](Recipe& recipe) {
    recipe.name = "fa2 huge logits, mask hook";
    make_huge(recipe);
    recipe.mask = MaskKind::kFull, recipe.hook = Hook::kMask, recipe.batch = 1;
    // Scores so close that a lane meets the largest one right after the next largest.
    recipe.head_dim = 16, recipe.seqlen_q = 75, recipe.seqlen_kv = 150;
  })));
}

void add_fa1_large(Problems& list) {
  const Recipe plain = with(kPlain, [](Recipe& recipe) {
    recipe.name = "fa1 huge logits";
    recipe.config = {.family = Family::kFa1, .tile_m = 32, .tile_n = 64, .warps = 4, .stages = 1};
    make_huge(recipe);
    recipe.seqlen_kv = 78, recipe.batch = 1;
  });
  list.push_back(make(plain));
  list.push_back(make(with(plain, [](Recipe& recipe) {
    recipe.name = "fa1 large logits, score hook";
    make_large(recipe);
    recipe.mask = MaskKind::kFull, recipe.batch = 2;
    recipe.hook = Hook::kLargeScore, recipe.dtype = DataType::kBf16;
  })));
}

void add_fa3_large(Problems& list) {
  const Recipe plain = with(kPlain, [](Recipe& recipe) {
    recipe.name = "fa3 packed, huge logits";
    recipe.config = {.family = Family::kFa3,
                     .tile_m = 64,
                     .tile_n = 16,
                     .warps = 4,
                     .stages = 2,
                     .pack_gqa = true};
    make_huge(recipe);
    recipe.heads = 6, recipe.kv_heads = 2, recipe.batch = 1, recipe.seqlen_q = 25;
    recipe.seqlen_kv = 40;
  });
  list.push_back(make(plain));
  list.push_back(make(with(plain, [](Recipe& recipe) {
    recipe.name = "fa3 O by TMA, huge logits";
    recipe.config.pack_gqa = false, recipe.config.tma_store = true;
    recipe.config.tile_m = 128, recipe.config.warps = 8;
    recipe.config.scheduler = TileScheduler::kStatic, recipe.multiprocessors = 1;
    recipe.heads = 1, recipe.kv_heads = 1, recipe.seqlen_q = 140, recipe.head_dim = 72;
    recipe.seqlen_kv = 145;
  })));
  list.push_back(make(with(plain, [](Recipe& recipe) {
    recipe.name = "fa3 packed, split, large logits";
    recipe.config.split_kv = true, recipe.num_splits = 2;
    recipe.scale = 0.25, recipe.offset = kLarger;
    recipe.batch = 2;
  })));
  list.push_back(make(with(plain, [](Recipe& recipe) {
    recipe.name = "fa3 split, huge logits";
    recipe.config.split_kv = true, recipe.num_splits = 2;
    recipe.config.pack_gqa = false;
    recipe.heads = 2, recipe.kv_heads = 1, recipe.seqlen_q = 70, recipe.seqlen_kv = 75;
  })));
  list.push_back(make(with(plain, [](Recipe& recipe) {
    recipe.name = "fa3 packed, large logits, score hook";
    make_large(recipe);
    recipe.mask = MaskKind::kFull, recipe.hook = Hook::kLargeScore;
    recipe.dtype = DataType::kBf16;
  })));
}

}  // namespace heddle::mutation
