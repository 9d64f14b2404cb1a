// What fa3 asks of a variant, a device and its knobs; the maps of its tensors.
#include <catch2/catch.hpp>

#include "generator/candidates.hpp"
#include "generator/emit.hpp"
#include "generator/kernel_part.hpp"
#include "generator/legality.hpp"
#include "generator/tensor_maps.hpp"

namespace heddle {
namespace {

KernelConfig fa3_config(int tile_m, int tile_n) {
  KernelConfig config;
  config.family = Family::kFa3;
  config.tile_m = tile_m;
  config.tile_n = tile_n;
  config.warps = tile_m / 16;
  return config;
}

std::string field_refused(const Variant& variant, const KernelConfig& config,
                          const char* architecture = "sm_90a") {
  const auto rejection = reject(variant, config, find_architecture(architecture));
  return rejection ? rejection->field : "";
}

/// [batch 2, heads 4, 100 rows, 72 columns], rows of all heads side by side.
AttentionParameters parameters_of(void* data) {
  AttentionParameters parameters{};
  parameters.query = parameters.key = parameters.value = {data, 100 * 4 * 72, 72, 4 * 72};
  parameters.batch = 2;
  parameters.heads = parameters.kv_heads = 4;
  parameters.seqlen_q = parameters.seqlen_kv = 100;
  return parameters;
}

}  // namespace

TEST_CASE("fa3 refuses what its hardware has not, by field") {
  const Variant variant{.head_dim = 128};
  CHECK(field_refused(variant, fa3_config(128, 128)).empty());
  CHECK(field_refused(variant, fa3_config(192, 80)).empty());
  CHECK(field_refused(variant, fa3_config(128, 128), "sm_90") == "family");
  CHECK(field_refused(variant, fa3_config(128, 128), "sm_80") == "family");
  CHECK(field_refused(variant, fa3_config(128, 128), "sm_100") == "family");
  CHECK(field_refused({.head_dim = 128, .alignment = 8}, fa3_config(128, 128)) == "alignment");
  CHECK(field_refused(variant, fa3_config(96, 128)) == "tile_m");
  KernelConfig config = fa3_config(128, 128);
  config.warps = 4;
  CHECK(field_refused(variant, config) == "warps");
  config = fa3_config(128, 128);
  config.query_stages = 3;
  CHECK(field_refused(variant, config) == "query_stages");
  config = fa3_config(128, 64);
  config.split_kv = config.pack_gqa = true;
  CHECK(field_refused(variant, config).empty());
  config.tma_store = true;
  CHECK(field_refused(variant, config) == "tma_store");
  config.split_kv = false;
  CHECK(field_refused(variant, config) == "tma_store");
  config.pack_gqa = false;
  CHECK(field_refused(variant, config).empty());
  // Scores, probabilities and output of a consumer have to fit the registers that setmaxnreg gives.
  CHECK(field_refused(variant, fa3_config(192, 112)) == "tile_n");
  CHECK(field_refused({.head_dim = 256}, fa3_config(128, 64)).empty());
  CHECK(field_refused({.dtype = DataType::kFp16, .head_dim = 136}, fa3_config(128, 64)) ==
        "head_dim");
  config = fa3_config(128, 128);
  config.running_max = RunningMax::kCheckedSum;
  CHECK(field_refused(variant, config).empty());
  config.split_kv = true;
  CHECK(field_refused(variant, config) == "running_max");
  config.split_kv = false, config.pack_gqa = true;
  CHECK(field_refused(variant, config) == "running_max");
  config.pack_gqa = false;
  config.family = Family::kFa2;
  CHECK(field_refused(variant, config) == "running_max");
  config = fa3_config(64, 64);
  config.ping_pong = true;
  CHECK(field_refused(variant, config) == "ping_pong");
}

TEST_CASE("fa3 without a producer's warpgroup has neither guards nor drawn tiles") {
  const Variant variant{.head_dim = 128};
  KernelConfig config = fa3_config(128, 128);
  config.warp_specialized = false;
  config.overlap = Overlap::kNone;
  config.scheduler = TileScheduler::kStatic;
  CHECK(field_refused(variant, config).empty());
  CHECK(part_footprint(variant, config, KernelPart::kFa3Attention).threads == 256);
  CHECK(field_refused({.head_dim = 128, .mask = MaskKind::kCausal}, config) == "warp_specialized");
  config.scheduler = TileScheduler::kDynamic;
  CHECK(field_refused(variant, config) == "warp_specialized");
  // Three teams have 168 registers of the launch instead of the 160 that setmaxnreg gives.
  config = fa3_config(192, 96);
  CHECK(field_refused(variant, config) == "tile_n");
  config.warp_specialized = false;
  CHECK(field_refused(variant, config).empty());
  const Rejection refused =
      *reject({.head_dim = 128, .mask = MaskKind::kCausal}, config, find_architecture("sm_90a"));
  CHECK_THAT(refused.reason,
             Catch::Contains("mask=causal") && Catch::Contains("use warp_specialized=true"));
}

TEST_CASE("What fa3's switches do is in its text") {
  const Variant variant{.head_dim = 128};
  const DeviceLimits& limits = find_architecture("sm_90a");
  KernelConfig config = fa3_config(128, 128);
  const auto text = [&] {
    return emit(variant, config, KernelPart::kFa3Attention, limits).main.text;
  };
  CHECK_THAT(text(), Catch::Contains(" kOverlap = true;") &&
                         Catch::Contains(" kWarpSpecialized = true;") &&
                         Catch::Contains(" kThreads = 384;"));
  config.overlap = Overlap::kNone;
  config.warp_specialized = false;
  CHECK_THAT(text(), Catch::Contains(" kOverlap = false;") &&
                         Catch::Contains(" kWarpSpecialized = false;") &&
                         Catch::Contains(" kThreads = 256;"));
}

TEST_CASE("What only costs time is not proposed") {
  for (const MaskKind mask : {MaskKind::kFull, MaskKind::kCausal}) {
    const Variant variant{.head_dim = 128, .mask = mask};
    for (const KernelConfig& config :
         enumerate_candidates(variant, find_architecture("sm_90a"), Family::kFa3)) {
      CHECK(config.overlap == Overlap::kIntraWarpgroup);
      CHECK(config.warp_specialized);
    }
  }
}

TEST_CASE("fa3 is proposed where it can run, and nowhere else") {
  for (const int head_dim : {8, 64, 72, 96, 128, 136, 192, 256}) {
    INFO(head_dim);
    const Variant variant{.head_dim = head_dim};
    CHECK_FALSE(enumerate_candidates(variant, find_architecture("sm_90a"), Family::kFa3).empty());
    CHECK(enumerate_candidates(variant, find_architecture("sm_89"), Family::kFa3).empty());
  }
}

TEST_CASE("A persistent grid has a block for each SM, or one for each tile where there are fewer") {
  const DeviceLimits& limits = find_architecture("sm_90a");
  KernelConfig config = fa3_config(128, 128);
  config.scheduler = TileScheduler::kStatic;
  Problem problem;
  problem.sizes = {.batch = 4, .heads = 16, .seqlen_q = 1000, .seqlen_kv = 1000};
  CHECK(plan_launch(problem, config, limits).launches[0].grid ==
        static_cast<unsigned>(limits.sm_count));
  problem.sizes.batch = problem.sizes.heads = 1;
  CHECK(plan_launch(problem, config, limits).launches[0].grid == 8);
  config.scheduler = TileScheduler::kTilePerBlock;
  problem.sizes.heads = 100;
  CHECK(plan_launch(problem, config, limits).launches[0].grid == 800);
}

TEST_CASE("Packed heads share tiles, in packs that a tile has rows for") {
  const DeviceLimits& limits = find_architecture("sm_90a");
  KernelConfig config = fa3_config(64, 128);
  config.pack_gqa = true;
  Problem problem;
  problem.sizes = {.batch = 3, .heads = 32, .kv_heads = 8, .seqlen_q = 17, .seqlen_kv = 1000};
  LaunchPlan plan = plan_launch(problem, config, limits);
  CHECK(plan.packed_heads == 4);
  CHECK(plan.tile_queries == 16);
  CHECK(plan.query_tiles == 2);
  CHECK(plan.launches[0].grid == 3 * 8 * 2);
  CHECK(fill_parameters(problem, config, plan, {}).packed_heads == 4);
  problem.sizes.heads = 8 * 7;
  plan = plan_launch(problem, config, limits);
  CHECK(plan.packed_heads == 7);
  CHECK(plan.tile_queries == 9);
  problem.sizes.heads = 8 * 100;  // two packs of 50 for each KV head
  plan = plan_launch(problem, config, limits);
  CHECK(plan.packed_heads == 50);
  CHECK(plan.tile_queries == 1);
  CHECK(plan.launches[0].grid == 3 * 8 * 2 * 17);
  problem.sizes.query_strides = {.batch = 17 * 128, .head = 0, .row = 128};
  CHECK(plan_launch(problem, config, limits).packed_heads == 1);
}

TEST_CASE("fa3 splits keys so that the last wave of blocks is full") {
  const DeviceLimits& limits = find_architecture("sm_90a");
  KernelConfig config = fa3_config(64, 128);
  config.pack_gqa = config.split_kv = true;
  const auto splits_of = [&](int batch, int seqlen_kv) {
    Problem problem;
    problem.sizes = {
        .batch = batch, .heads = 32, .kv_heads = 8, .seqlen_q = 1, .seqlen_kv = seqlen_kv};
    return plan_launch(problem, config, limits).num_splits;
  };
  CHECK(limits.sm_count == 132);
  CHECK(splits_of(1, 32768) == 16);  // 128 blocks
  CHECK(splits_of(1, 1024) == 4);    // 256 keys each at least
  CHECK(splits_of(1, 0) == 1);
  CHECK(splits_of(16, 32768) == 1);  // 128 tiles already
  CHECK(splits_of(20, 32768) == 4);  // five full waves, not one and a fifth
  CHECK(splits_of(128, 32768) == 1);
}

TEST_CASE("The map of packed queries has the head before the row") {
  alignas(16) char data[16];
  MapBoxes boxes{64, 80, 72, DataType::kFp16};
  boxes.packed_heads = 3;
  const auto maps = tensor_map_requests(parameters_of(data), boxes);
  CHECK(maps[0].dims == std::array<std::uint64_t, 5>{72, 4, 100, 2, 0});
  CHECK(maps[0].strides == std::array<std::uint64_t, 4>{144, 4 * 144, 100 * 4 * 144, 0});
  CHECK(maps[0].box == std::array<std::uint32_t, 5>{64, 3, 21, 1, 0});
  CHECK(maps[1].dims == std::array<std::uint64_t, 5>{72, 100, 4, 2, 0});
}

TEST_CASE("Maps describe tensors of any strides") {
  alignas(16) char data[16];
  const auto maps = tensor_map_requests(parameters_of(data), {128, 80, 72, DataType::kFp16});
  CHECK(maps[0].type == TensorMapType::kFloat16);
  CHECK(maps[0].rank == 4);
  CHECK(maps[0].address == data);
  CHECK(maps[0].dims == std::array<std::uint64_t, 5>{72, 100, 4, 2, 0});
  CHECK(maps[0].strides == std::array<std::uint64_t, 4>{4 * 144, 144, 100 * 4 * 144, 0});
  CHECK(maps[0].box == std::array<std::uint32_t, 5>{64, 128, 1, 1, 0});
  CHECK(maps[1].box[1] == 80);
  CHECK(maps[2].box[1] == 80);
}

TEST_CASE("An axis of stride 0 is one long in its map") {
  alignas(16) char data[16];
  AttentionParameters parameters = parameters_of(data);
  parameters.key.head_stride = 0;
  parameters.value.batch_stride = 0;
  const auto maps = tensor_map_requests(parameters, {64, 64, 72, DataType::kBf16});
  CHECK(maps[1].dims == std::array<std::uint64_t, 5>{72, 100, 1, 2, 0});
  CHECK(maps[2].dims == std::array<std::uint64_t, 5>{72, 100, 4, 1, 0});
}

TEST_CASE("Tensors that no map can describe are of a lower alignment class") {
  alignas(16) static char data[16];
  const TensorPointers pointers{.query = data, .key = data, .value = data, .output = data};
  Problem problem;
  problem.variant.head_dim = 64;
  problem.sizes = {.batch = 2, .heads = 2, .seqlen_q = 8, .seqlen_kv = 8};
  CHECK(alignment_class(problem, pointers) == 16);
  problem.sizes.key_strides = {.batch = 1024, .head = 512, .row = 0};
  CHECK(alignment_class(problem, pointers) == 8);
  problem.sizes.key_strides = {.batch = 1ll << 40, .head = 512, .row = 64};
  CHECK(alignment_class(problem, pointers) == 8);
  problem.sizes.key_strides = {.batch = 0, .head = 512, .row = 64};
  CHECK(alignment_class(problem, pointers) == 16);
}

TEST_CASE("Maps do not trust what nobody multiplies") {
  alignas(16) char data[16];
  AttentionParameters parameters = parameters_of(data);
  parameters.batch = parameters.heads = parameters.kv_heads = 1;
  parameters.seqlen_kv = 0;  // no key: no block is loaded, but the driver wants a dimension
  parameters.query.batch_stride = 7;
  parameters.query.head_stride = -1;
  const auto maps = tensor_map_requests(parameters, {64, 64, 72, DataType::kBf16});
  CHECK(maps[0].strides[1] == 144);
  CHECK(maps[0].strides[2] == 144);
  CHECK(maps[1].dims[1] == 1);
}

}  // namespace heddle
