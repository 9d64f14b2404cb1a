// e4m3 inputs: every granularity of scales, both layouts of V, on one of the two a second team,
// splits, packs, logits that are worked out again; and the references that judge them.
#include "tests/mutation/recipe.hpp"

namespace heddle::mutation {
namespace {

Recipe transposed() {
  return {.name = "fp8 V by columns, blocks, causal, odd values",
          .config = {.family = Family::kFa3,
                     .tile_m = 64,
                     .tile_n = 32,
                     .warps = 4,
                     .stages = 2,
                     .query_stages = 2,
                     .scheduler = TileScheduler::kStatic},
          .dtype = DataType::kE4m3,
          .head_dim = 32,
          .seqlen_q = 150,
          .seqlen_kv = 165,
          .batch = 2,
          .heads = 4,
          .kv_heads = 2,
          .multiprocessors = 2,
          .scales = ScaleKind::kBlock,
          .value_layout = ValueLayout::kTransposed,
          .means = true};
}

void add_by_rows(Problems& list) {
  const Recipe rows = with(transposed(), [](Recipe& recipe) {
    recipe.name = "fp8 V by rows, heads, causal, odd values";
    recipe.scales = ScaleKind::kHead, recipe.value_layout = ValueLayout::kRows;
    recipe.config.tile_n = 64, recipe.head_dim = 96, recipe.seqlen_q = 70;
    recipe.seqlen_kv = 140, recipe.bad_values = 40, recipe.kv_heads = 2;
    recipe.means = false;
  });
  list.push_back(make(rows));
  list.push_back(make(with(rows, [](Recipe& recipe) {
    recipe.name = "fp8 V by rows, full, two teams, a tile for each block";
    recipe.mask = MaskKind::kFull, recipe.bad_values = 0, recipe.head_dim = 64;
    recipe.config.tile_m = 128, recipe.config.warps = 8, recipe.config.tile_n = 32;
    recipe.config.query_stages = 1, recipe.config.scheduler = TileScheduler::kTilePerBlock;
    recipe.config.stages = 3, recipe.seqlen_q = 130, recipe.seqlen_kv = 200, recipe.batch = 1;
    recipe.output_dtype = DataType::kFp16, recipe.scales = ScaleKind::kTensor;
  })));
}

void add_decoding(Problems& list) {
  list.push_back(make(with(transposed(), [](Recipe& recipe) {
    recipe.name = "fp8 packed heads, split, rows' scales";
    recipe.config.split_kv = recipe.config.pack_gqa = true, recipe.num_splits = 3;
    recipe.scales = ScaleKind::kToken, recipe.heads = 6, recipe.kv_heads = 2;
    recipe.seqlen_q = 5, recipe.seqlen_kv = 190;
  })));
  list.push_back(make(with(transposed(), [](Recipe& recipe) {
    recipe.name = "fp8 packed heads with scales of their own";
    recipe.config.pack_gqa = true, recipe.scales = ScaleKind::kHead, recipe.heads = 6;
    recipe.kv_heads = 2, recipe.seqlen_q = 12, recipe.seqlen_kv = 70;
  })));
}

void add_large(Problems& list) {
  for (const ScaleKind scales : {ScaleKind::kHead, ScaleKind::kToken}) {
    Recipe recipe = transposed();
    recipe.name = "fp8 large logits";
    recipe.scales = scales;
    recipe.seqlen_q = 20, recipe.seqlen_kv = 60, recipe.batch = 1, recipe.logit_factor = 3000;
    list.push_back(make(recipe));
  }
}

void add_references(Problems& list) {
  for (const ValueLayout layout : {ValueLayout::kRows, ValueLayout::kTransposed}) {
    Recipe recipe = transposed();
    recipe.name = "fp8 reference";
    recipe.value_layout = layout;
    recipe.config = {.family = Family::kReference,
                     .tile_m = 32,
                     .tile_n = 32,
                     .reference = ReferenceKind::kBaseline};
    recipe.seqlen_q = 40, recipe.seqlen_kv = 36;
    list.push_back(make(recipe));
  }
}

}  // namespace

void add_fp8(Problems& list) {
  list.push_back(make(transposed()));
  list.push_back(make(with(transposed(), [](Recipe& recipe) {
    recipe.name = "fp8 V by columns, full, two teams";
    recipe.mask = MaskKind::kFull, recipe.head_dim = 96, recipe.scales = ScaleKind::kTensor;
    recipe.config.tile_m = 128, recipe.config.warps = 8, recipe.config.tile_n = 96;
    recipe.seqlen_q = 130, recipe.seqlen_kv = 200, recipe.batch = 1, recipe.means = false;
    recipe.inputs = InputKind::kLargeLogits;
  })));
  add_by_rows(list);
  add_decoding(list);
  add_large(list);
  add_references(list);
}

}  // namespace heddle::mutation
