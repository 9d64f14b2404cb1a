// Tiles that NaN or Inf among values spoil are done again (templates/part/redo_list.cuh): wherever
// in a block's walk they are, however many, and no others.
#include <catch2/catch.hpp>
#include <cstring>
#include <limits>

#include "runtime/host/verify.hpp"
#include "runtime/testing/element.hpp"
#include "runtime/testing/inputs.hpp"

namespace heddle {
namespace {

constexpr int kHeads = 4;
constexpr int kLength = 300;
constexpr int kHeadDim = 64;
constexpr int kTileRows = 128;
constexpr int kColumn = 5;

/// One SM: a persistent block walks all 12 tiles.
DeviceLimits one_multiprocessor() {
  DeviceLimits limits = find_architecture("sm_90a");
  limits.sm_count = 1;
  return limits;
}

Problem problem_of(int kv_heads, int splits = 0) {
  Problem problem;
  problem.variant.dtype = DataType::kBf16;
  problem.variant.head_dim = kHeadDim;
  problem.variant.mask = MaskKind::kCausal;
  problem.sizes = {.heads = kHeads,
                   .kv_heads = kv_heads,
                   .seqlen_q = kLength,
                   .seqlen_kv = kLength,
                   .num_splits = splits};
  return problem;
}

struct Way {
  TileScheduler scheduler;
  int query_stages;
};
constexpr Way kWays[] = {{TileScheduler::kTilePerBlock, 1},
                         {TileScheduler::kStatic, 1},
                         {TileScheduler::kStatic, 2},
                         {TileScheduler::kDynamic, 1},
                         {TileScheduler::kDynamic, 2}};

KernelConfig config_of(const Way& way) {
  KernelConfig config{.family = Family::kFa3, .tile_m = kTileRows, .tile_n = 64, .warps = 8};
  config.scheduler = way.scheduler;
  config.query_stages = way.query_stages;
  config.tma_store = config.ping_pong = config.skip_masked = way.query_stages == 2;
  return config;
}

HostConfig compiled(const Problem& problem, const KernelConfig& config) {
  static HostCompiler compiler;
  return compile_for_host(compiler, problem.variant, config, one_multiprocessor());
}

HostVerdict verify(const Problem& problem, const HostTensors& tensors, const KernelConfig& config) {
  return verify_on_host(make_host_case(problem, tensors), compiled(problem, config),
                        one_multiprocessor(),
                        {3, {Landing::kLatest, Landing::kEarliest, Landing::kRandom}, 0});
}

HostRun run(const Problem& problem, const HostTensors& tensors, const KernelConfig& config) {
  HostRun run = run_on_host(problem, compiled(problem, config), one_multiprocessor(), tensors,
                            {{1, Landing::kLatest}, 1});
  for (const HostFault& fault : run.faults) FAIL(fault.describe());
  return run;
}

/// Sets an entry of a value.
void spoil(HostTensors& tensors, int kv_head, int key, float value) {
  tensors.value[static_cast<std::size_t>((kv_head * kLength + key) * kHeadDim + kColumn)] =
      element_from_float(DataType::kBf16, value);
}

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Place {
  int head;
  int key;
};
/// First and last tiles of a walk, tiles in a row, and every masked block.
const std::vector<std::vector<Place>> kPlaces = {
    {{0, 299}}, {{3, 1}}, {{3, 299}, {2, 290}, {1, 280}}, {{0, 20},  {0, 90},  {0, 150}, {0, 200},
                                                           {0, 270}, {1, 20},  {1, 90},  {1, 150},
                                                           {1, 200}, {1, 270}, {2, 20},  {2, 90},
                                                           {2, 150}, {2, 200}, {2, 270}, {3, 20},
                                                           {3, 90},  {3, 150}, {3, 200}, {3, 270}}};

}  // namespace

TEST_CASE("Spoilt tiles are right, wherever in a walk they are") {
  for (const Way& way : kWays) {
    for (const auto& places : kPlaces) {
      for (const float value : {kNan, -kInfinity}) {
        if (value == -kInfinity && places.size() < 4) continue;  // 0 times it is NaN
        const Problem problem = problem_of(kHeads);
        HostTensors tensors = make_inputs(problem, InputKind::kNormal, 51);
        for (const Place& place : places) spoil(tensors, place.head, place.key, value);
        const auto verdict = verify(problem, tensors, config_of(way));
        INFO(enum_name(way.scheduler) << ' ' << way.query_stages << ' ' << places.size() << ' '
                                      << value << ": " << verdict.explain());
        CHECK(verdict.passed());
      }
    }
  }
}

TEST_CASE("Spoilt tiles of splits, and of packed heads, are right") {
  for (const bool packs : {false, true}) {
    for (const int splits : {0, 3}) {
      if (!packs && splits == 0) continue;
      const Problem problem = problem_of(1, splits);
      HostTensors tensors = make_inputs(problem, InputKind::kNormal, 53);
      spoil(tensors, 0, 130, kNan);
      spoil(tensors, 0, 299, kInfinity);
      KernelConfig config = config_of({TileScheduler::kStatic, 2});
      config.tma_store = config.skip_masked = false;
      config.split_kv = splits > 0;
      config.pack_gqa = packs;
      const auto verdict = verify(problem, tensors, config);
      INFO(packs << ' ' << splits << ": " << verdict.explain());
      CHECK(verdict.passed());
    }
  }
}

TEST_CASE("C10 rows that may not see a spoilt value have the bits that they have without it") {
  for (const Way& way : kWays) {
    const Problem problem = problem_of(kHeads);
    const HostTensors clean = make_inputs(problem, InputKind::kNormal, 57);
    HostTensors spoilt = clean;
    constexpr int kKey = 150;
    for (int head = 1; head < kHeads; ++head) spoil(spoilt, head, kKey, kNan);
    const HostRun expected = run(problem, clean, config_of(way));
    const HostRun given = run(problem, spoilt, config_of(way));
    for (int head = 0; head < kHeads; ++head) {
      const auto row = static_cast<std::size_t>(head * kLength);
      const std::size_t rows = head == 0 ? kLength : kKey;
      CHECK(std::memcmp(&expected.output[row * kHeadDim], &given.output[row * kHeadDim],
                        rows * kHeadDim * sizeof(std::uint16_t)) == 0);
    }
    CHECK(expected.log_sum_exp == given.log_sum_exp);
  }
}

TEST_CASE("Only spoilt tiles are done again, and once") {
  // A head's three tiles read the values of 128, 256 and 300 keys.
  constexpr long long kRead = (128 + 256 + kLength) * kHeadDim * 2LL * kHeads;
  constexpr std::size_t kValue = 2;
  const Problem problem = problem_of(kHeads);
  const HostTensors clean = make_inputs(problem, InputKind::kNormal, 59);
  HostTensors spoilt = clean;
  spoil(spoilt, 2, 299, kNan);  // only the head's last tile loads it
  for (const Way& way : kWays) {
    INFO(enum_name(way.scheduler) << ' ' << way.query_stages);
    CHECK(run(problem, clean, config_of(way)).traffic[kValue].read == kRead);
    // By the TMA once more, and the last block's by the warps that add what is not finite: eight,
    // or the four with rows that exist.
    const long long more = run(problem, spoilt, config_of(way)).traffic[kValue].read - kRead;
    CHECK(more > kLength * kHeadDim * 2LL);
    CHECK(more <= (kLength + 8 * 44) * kHeadDim * 2LL);
  }
}

}  // namespace heddle
