// Predicted HBM bytes beside what hardware counters said, and that they add up.
#include "generator/hbm_traffic.hpp"

#include <algorithm>
#include <list>

#include <catch2/catch.hpp>

#include "generator/candidates.hpp"
#include "generator/cost_model.hpp"
#include "tests/generator/dram_bytes.hpp"

namespace heddle {
namespace {

const DeviceLimits& h200() {
  return find_architecture("sm_90a");
}

Problem square(int length) {
  Problem problem;
  problem.sizes = {.batch = 11, .heads = 24, .seqlen_q = length, .seqlen_kv = length};
  return problem;
}

double bytes_of(const Problem& problem, const KernelConfig& config) {
  return predict(problem, config, h200()).hbm_bytes;
}

TEST_CASE("Predicted bytes are within 15 % of the counters of an H200") {
  // Nsight Compute, bf16, d 128, full, batch 11, 24 heads (docs/performance.md).
  KernelConfig fa1{.family = Family::kFa1, .tile_m = 256, .tile_n = 64, .warps = 8, .stages = 1};
  const KernelConfig unfused{.family = Family::kUnfused, .tile_m = 128, .tile_n = 128, .warps = 8};
  CHECK(bytes_of(square(1024), unfused) == Approx(3.55e9).epsilon(0.15));
  CHECK(bytes_of(square(4096), unfused) == Approx(54.3e9).epsilon(0.15));
  CHECK(bytes_of(square(1024), fa1) == Approx(0.55e9).epsilon(0.15));
  CHECK(bytes_of(square(4096), fa1) == Approx(8.79e9).epsilon(0.15));
  fa1.tile_m = 128;
  CHECK(bytes_of(square(4096), fa1) == Approx(16.8e9).epsilon(0.15));
}

TEST_CASE("Predicted bytes of the suite fa1-io are within 15 % of the counters of an H200") {
  for (const DramBytes& measured : kDramBytes) {
    Problem problem;
    problem.variant.dtype = DataType::kFp16;
    problem.variant.head_dim = measured.head_dim;
    problem.sizes = {.batch = measured.batch,
                     .heads = measured.heads,
                     .seqlen_q = measured.length,
                     .seqlen_kv = measured.length};
    const auto config = parse_canonical<KernelConfig>(measured.config);
    INFO(measured.config << ", " << measured.batch << " x " << measured.length);
    CHECK(bytes_of(problem, config) == Approx(measured.total()).epsilon(0.15));
  }
}

/// Misses a pass, but for the first, of a cache that replaces what was used longest ago, of blocks
/// that walk their own lines forth and back, block b beginning b / blocks * `apart` of a whole walk
/// forth and back later than the first.
double share_lost(double kept, double apart) {
  constexpr int kBlocks = 16, kLines = 128, kPasses = 24;
  const auto capacity = static_cast<std::size_t>(kept * kBlocks * kLines);
  std::list<int> used;
  double asked = 0, missed = 0;
  for (int time = 0; time < kPasses * kLines; ++time) {
    for (int block = 0; block < kBlocks; ++block) {
      const int step =
          (time + static_cast<int>(apart * 2 * kLines * block / kBlocks)) % (2 * kLines);
      const int id = block * kLines + (step < kLines ? step : 2 * kLines - 1 - step);
      const auto found = std::find(used.begin(), used.end(), id);
      const bool counted = time >= 4 * kLines;
      asked += counted;
      missed += counted && found == used.end();
      if (found != used.end()) used.erase(found);
      used.push_front(id);
      if (used.size() > capacity) used.pop_back();
    }
  }
  return missed / asked;
}

TEST_CASE("Walking back finds what a cache with least-recently-used replacement holds") {
  for (const double kept : {0.25, 0.5, 0.75}) {
    INFO(kept);
    CHECK(lost_by_walking_back(kept, 0) == Approx(share_lost(kept, 0)).margin(0.03));
    CHECK(lost_by_walking_back(kept, 1) == Approx(share_lost(kept, 1)).margin(0.03));
  }
  CHECK(lost_by_walking_back(1, 0.5) == 0);
  CHECK(lost_by_walking_back(0, 0.5) == 1);
}

TEST_CASE("Keys that L2 holds are read once, and others once for each pass") {
  KeyValueReuse reuse{.bytes_once = 100, .passes = 4, .lost = 0};
  CHECK(reuse.bytes() == 100);
  reuse.lost = 1;
  CHECK(reuse.bytes() == 400);
  const KernelConfig fa1{
      .family = Family::kFa1, .tile_m = 128, .tile_n = 64, .warps = 8, .stages = 1};
  Problem small = square(512);
  small.sizes = {.batch = 1, .heads = 16, .seqlen_q = 512, .seqlen_kv = 512};
  CHECK(bytes_of(small, fa1) == Approx(minimal_bytes(small)));
}

TEST_CASE("The parts of a prediction add up to it") {
  for (const MaskKind mask : {MaskKind::kFull, MaskKind::kCausal}) {
    Problem problem = square(2048);
    problem.variant.mask = mask;
    for (const KernelConfig& config : enumerate_candidates(problem.variant, h200())) {
      const LaunchPlan plan = plan_launch(problem, config, h200());
      double seconds = 0, bytes = 0;
      for (int i = 0; i < plan.count; ++i) {
        const PartPrediction part = predict_part(problem, config, plan, i, h200());
        seconds += part.seconds + part.launch_seconds;
        bytes += part.work.hbm.total();
      }
      const Prediction whole = predict(problem, config, h200());
      INFO(canonical_text(config));
      CHECK(seconds == Approx(whole.seconds));
      CHECK(bytes == Approx(whole.hbm_bytes));
    }
  }
}

TEST_CASE("fa3 without overlap or without a producer is predicted as much slower as measured") {
  // docs/evidence.md: 3 to 12 %, and 6 to 15 % of the same tile with all on.
  Problem problem;
  problem.variant.dtype = DataType::kFp16;
  problem.sizes = {.batch = 4, .heads = 16, .seqlen_q = 8448, .seqlen_kv = 8448};
  KernelConfig all_on{.family = Family::kFa3, .tile_m = 128, .tile_n = 128, .warps = 8};
  all_on.ping_pong = true;
  all_on.scheduler = TileScheduler::kStatic;
  KernelConfig no_overlap = all_on, no_producer = all_on;
  no_overlap.overlap = Overlap::kNone;
  no_producer.warp_specialized = false;
  const double base = predict(problem, all_on, h200()).seconds;
  CHECK(predict(problem, no_overlap, h200()).seconds / base == Approx(1.065).margin(0.045));
  CHECK(predict(problem, no_producer, h200()).seconds / base == Approx(1.105).margin(0.045));
}

}  // namespace
}  // namespace heddle
