// What fa3 asks of a variant, a device and its knobs; the maps of its tensors.
#include <catch2/catch.hpp>

#include "generator/candidates.hpp"
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
  config.split_kv = true;
  CHECK(field_refused(variant, config) == "split_kv");
  // Scores, probabilities and output of a consumer have to fit the registers that setmaxnreg gives.
  CHECK(field_refused(variant, fa3_config(192, 112)) == "tile_n");
  CHECK(field_refused({.head_dim = 256}, fa3_config(128, 64)).empty());
  CHECK(field_refused({.dtype = DataType::kFp16, .head_dim = 136}, fa3_config(128, 64)) ==
        "head_dim");
  config = fa3_config(128, 128);
  config.running_max = RunningMax::kCheckedSum;
  CHECK(field_refused(variant, config).empty());
  config.family = Family::kFa2;
  CHECK(field_refused(variant, config) == "running_max");
  config = fa3_config(64, 64);
  config.ping_pong = true;
  CHECK(field_refused(variant, config) == "ping_pong");
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
