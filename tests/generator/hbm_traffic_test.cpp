// Predicted HBM bytes beside what hardware counters said, and that they add up.
#include "generator/hbm_traffic.hpp"

#include <catch2/catch.hpp>

#include "generator/candidates.hpp"
#include "generator/cost_model.hpp"

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
