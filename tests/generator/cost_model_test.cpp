#include "generator/cost_model.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "generator/candidates.hpp"
#include "generator/legality.hpp"

namespace heddle {
namespace {

const DeviceLimits& h200() {
  return find_architecture("sm_90a");
}

Problem square(int batch, int heads, int length, MaskKind mask = MaskKind::kFull) {
  Problem problem;
  problem.variant.mask = mask;
  problem.sizes = {.batch = batch, .heads = heads, .seqlen_q = length, .seqlen_kv = length};
  return problem;
}

double best_seconds(const Problem& problem, Family family, bool split) {
  double best = 1e9;
  for (const KernelConfig& config : enumerate_candidates(problem.variant, h200(), family)) {
    if (config.split_kv != split) continue;
    best = std::min(best, predict(problem, config, h200()).seconds);
  }
  return best;
}

/// Predicted seconds never sink as `grow` makes the problem larger.
template <class Grow>
void check_monotone(Problem problem, const KernelConfig& config, Grow grow) {
  double before = 0;
  for (int step = 0; step < 12; ++step) {
    const double seconds = predict(problem, config, h200()).seconds;
    INFO(canonical_text(config) << " | " << canonical_text(problem.sizes) << " " << seconds
                                << " after " << before);
    CHECK(seconds >= before * (1 - 1e-9));
    before = seconds;
    grow(problem.sizes);
  }
}

std::vector<KernelConfig> sample_unsplit(const Variant& variant, unsigned seed) {
  auto configs = enumerate_candidates(variant, h200());
  std::erase_if(configs, [](const KernelConfig& config) { return config.split_kv; });
  std::mt19937 random(seed);
  std::shuffle(configs.begin(), configs.end(), random);
  configs.resize(std::min<std::size_t>(configs.size(), 60));
  return configs;
}

TEST_CASE("More keys, queries, heads or sequences are never faster") {
  const auto seed = std::random_device{}();
  INFO("seed " << seed);
  for (const MaskKind mask : {MaskKind::kFull, MaskKind::kCausal}) {
    const Problem problem = square(1, 3, 100, mask);
    for (const KernelConfig& config : sample_unsplit(problem.variant, seed)) {
      check_monotone(problem, config, [](Sizes& sizes) { sizes.seqlen_kv += sizes.seqlen_kv / 2; });
      check_monotone(problem, config, [](Sizes& sizes) { sizes.batch += sizes.batch; });
      check_monotone(problem, config, [](Sizes& sizes) { sizes.heads += 5; });
      if (mask == MaskKind::kCausal) continue;  // there, more queries see fewer keys each
      check_monotone(problem, config, [](Sizes& sizes) { sizes.seqlen_q += sizes.seqlen_q / 2; });
    }
  }
}

TEST_CASE("Causal is never slower than full") {
  const Problem full = square(2, 8, 4096);
  const Problem causal = square(2, 8, 4096, MaskKind::kCausal);
  for (const KernelConfig& config : enumerate_candidates(full.variant, h200())) {
    INFO(canonical_text(config));
    CHECK(predict(causal, config, h200()).seconds <= predict(full, config, h200()).seconds * 1.05);
  }
}

TEST_CASE("A prediction is positive, finite and at least each of its bounds") {
  for (const MaskKind mask : {MaskKind::kFull, MaskKind::kCausal}) {
    const Problem problem = square(4, 16, 1024, mask);
    for (const KernelConfig& config : enumerate_candidates(problem.variant, h200())) {
      const Prediction p = predict(problem, config, h200());
      INFO(canonical_text(config));
      const double bounds[] = {p.tensor_seconds,        p.exponential_seconds, p.issue_seconds,
                               p.shared_memory_seconds, p.l2_seconds,          p.launch_seconds};
      for (const double bound : bounds) {
        CHECK(bound > 0);
        CHECK(p.seconds >= bound);
      }
      CHECK(p.seconds < 0.1);
      CHECK(p.blocks_per_sm >= 1);
      CHECK(p.waves > 0);
      CHECK_FALSE(p.binding.empty());
      CHECK(p.hbm_bytes >= minimal_bytes(problem) * 0.99);
      CHECK(p.estimated_registers <= 255);
    }
  }
}

TEST_CASE("Residency obeys registers, shared memory and threads") {
  const Problem problem = square(16, 16, 1024);
  for (const KernelConfig& config : enumerate_candidates(problem.variant, h200())) {
    const Prediction p = predict(problem, config, h200());
    const auto part = *kernel_parts(config).begin();
    const auto footprint = part_footprint(problem.variant, config, part);
    INFO(canonical_text(config));
    CHECK(p.blocks_per_sm * footprint.threads * p.estimated_registers <= 65536);
    CHECK(p.blocks_per_sm * footprint.shared_bytes <= h200().shared_bytes_per_sm);
    CHECK(p.blocks_per_sm * footprint.threads <= h200().threads_per_sm);
  }
}

TEST_CASE("fa2 beats unfused at length 4096, and fa1 does with enough heads") {
  const Problem problem = square(8, 64, 4096);
  const double unfused = best_seconds(problem, Family::kUnfused, false);
  CHECK(best_seconds(problem, Family::kFa2, false) < unfused / 2);
  CHECK(best_seconds(problem, Family::kFa1, false) < unfused);
}

TEST_CASE("fa1 starves with few heads") {
  const Problem problem = square(1, 16, 16384);
  CHECK(best_seconds(problem, Family::kFa1, false) >
        4 * best_seconds(problem, Family::kFa2, false));
}

TEST_CASE("Splitting pays where blocks are few, and costs where they are many") {
  Problem decode = square(1, 4, 1);
  decode.sizes.seqlen_kv = 16384;
  CHECK(best_seconds(decode, Family::kFa2, true) < best_seconds(decode, Family::kFa2, false) / 2);

  Problem append = square(1, 4, 512);
  append.sizes.seqlen_kv = 16384;
  CHECK(best_seconds(append, Family::kFa2, true) < best_seconds(append, Family::kFa2, false));

  const Problem prefill = square(64, 32, 1024);
  CHECK(best_seconds(prefill, Family::kFa2, true) > best_seconds(prefill, Family::kFa2, false));
}

TEST_CASE("The model is near what FlashAttention-2 does on an H200") {
  // 345 TFLOP/s at d 128 and 299 at d 64, length 16384, full mask, measured with PyTorch 2.11.
  for (const auto& [head_dim, heads, measured] : {std::tuple{128, 16, 345e12}, {64, 32, 299e12}}) {
    Problem problem = square(1, heads, 16384);
    problem.variant.head_dim = head_dim;
    const double rate = flop_count(problem) / best_seconds(problem, Family::kFa2, false);
    INFO("head_dim " << head_dim << ": " << rate / 1e12);
    CHECK(rate == Approx(measured).epsilon(0.2));
  }
}

TEST_CASE("Decoding is bound by the stream of K and V, and cannot beat the bandwidth") {
  Problem problem = square(64, 8, 1);
  problem.sizes.seqlen_kv = 8192;
  const auto best = rank_candidates(problem, h200()).front();
  CHECK(best.config.family == Family::kFa2);
  CHECK(best.prediction.seconds > minimal_bytes(problem) / h200().hbm_bytes_per_second);
  CHECK(best.prediction.seconds < 2.5 * minimal_bytes(problem) / h200().hbm_bytes_per_second);
}

TEST_CASE("Long causal rows first is never predicted slower") {
  const Problem problem = square(1, 8, 8192, MaskKind::kCausal);
  KernelConfig config{.longest_first = true};
  const double first = predict(problem, config, h200()).seconds;
  config.longest_first = false;
  CHECK(first < predict(problem, config, h200()).seconds);
}

TEST_CASE("Registers grow with tiles and shrink with warps") {
  const Variant variant;
  const auto registers = [&](KernelConfig config) {
    return estimate_registers(variant, config, h200());
  };
  CHECK(registers({.tile_n = 128}) > registers({.tile_n = 64}));
  CHECK(registers({.tile_m = 128}) > registers({.tile_m = 64}));
  CHECK(registers({.tile_m = 128, .warps = 8}) == registers({.tile_m = 64, .warps = 4}));
  CHECK(registers({.query_in_registers = true}) > registers({}));
  CHECK(registers({.tile_m = 256, .tile_n = 128}) > 255);  // not capped
}

TEST_CASE("C83 an empty problem costs nothing") {
  for (auto change : {+[](Sizes& s) { s.batch = 0; }, +[](Sizes& s) { s.seqlen_q = 0; },
                      +[](Sizes& s) { s.heads = 0; }}) {
    Problem problem = square(1, 1, 64);
    change(problem.sizes);
    CHECK(predict(problem, KernelConfig{}, h200()).seconds == 0);
  }
  Problem no_keys = square(1, 1, 64);
  no_keys.sizes.seqlen_kv = 0;
  CHECK(predict(no_keys, KernelConfig{}, h200()).seconds > 0);  // its output is still written
}

}  // namespace
}  // namespace heddle
