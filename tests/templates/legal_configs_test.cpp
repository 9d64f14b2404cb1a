// What legality accepts compiles, within the computed shared memory (the templates assert it), and
// hardly ever spills. A fresh sample per run:
//   HEDDLE_SAMPLE=400 HEDDLE_SEED=7 templates_legal_configs_test
#include <algorithm>
#include <cmath>
#include <random>

#include <catch2/catch.hpp>

#include "generator/knobs.hpp"
#include "generator/legality.hpp"
#include "tests/templates/compiled.hpp"

namespace heddle {
namespace {

struct Draw {
  Variant variant;
  KernelConfig config;
  DeviceLimits limits;
};

class Sampler {
 public:
  explicit Sampler(unsigned seed) : engine_(seed) {
    for (const DeviceLimits& limits : architecture_table()) {
      if (is_supported(limits)) targets_.push_back(limits);
    }
  }

  /// Far wider than what the tuner tries: any multiple of 16 is a tile.
  Draw next() {
    while (true) {
      Draw draw{variant(), config(), targets_[below(targets_.size())]};
      reset_idle_knobs(draw);
      if (!reject(draw.variant, draw.config, draw.limits)) return draw;
    }
  }

 private:
  std::size_t below(std::size_t limit) {
    return std::uniform_int_distribution<std::size_t>(0, limit - 1)(engine_);
  }
  int multiple(int step, std::size_t count) { return step * (1 + static_cast<int>(below(count))); }
  bool coin() { return below(2) == 0; }

  Variant variant() {
    return {.dtype = coin() ? DataType::kFp16 : DataType::kBf16,
            .head_dim = multiple(8, 32),
            .mask = coin() ? MaskKind::kFull : MaskKind::kCausal,
            .alignment = 2 << below(4)};
  }
  KernelConfig config() {
    constexpr Family kFamilies[] = {Family::kUnfused, Family::kFa1, Family::kFa2};
    return {.family = kFamilies[below(3)],
            .tile_m = multiple(16, 16),
            .tile_n = multiple(16, 16),
            .warps = multiple(1, 16),
            .stages = multiple(1, 4),
            .query_in_registers = coin(),
            .running_max = coin() ? RunningMax::kLazy : RunningMax::kEveryBlock,
            .split_kv = coin(),
            .longest_first = coin()};
  }
  static void reset_idle_knobs(Draw& draw) {
    const KernelConfig defaults;
    for_each_field(draw.config, [&](const auto& knob, auto& value) {
      if (!knob_applies(knob.name, draw.config.family, draw.variant)) {
        value = defaults.*(knob.member);
      }
    });
  }

  std::mt19937 engine_;
  std::vector<DeviceLimits> targets_;
};

/// The most kernels out of `count` that may spill before it is all but certain (99 : 1) that more
/// than one in twenty of all do: the tail of the binomial distribution.
int spills_allowed(int count) {
  constexpr double kRate = 0.05;
  double term = std::pow(1 - kRate, count);
  double tail = 1 - term;
  int spills = 0;
  while (tail > 0.01) {
    ++spills;
    term *= (count - spills + 1.0) / spills * kRate / (1 - kRate);
    tail -= term;
  }
  return spills;
}

TEST_CASE("The bound on spills tightens to one in twenty") {
  CHECK(spills_allowed(24) == 4);
  CHECK(spills_allowed(400) < 0.1 * 400);
  CHECK(spills_allowed(10000) < 0.06 * 10000);
}

TEST_CASE("A random sample of legal configs compiles, nearly all without spills") {
  const auto seed = static_cast<unsigned>(drawn_seed());
  const auto count = static_cast<int>(number_from("HEDDLE_SAMPLE", 24));
  std::printf("HEDDLE_SEED=%u HEDDLE_SAMPLE=%d\n", seed, count);
  Sampler sampler(seed);
  int spilled = 0;
  for (int i = 0; i < count; ++i) {
    const Draw draw = sampler.next();
    const std::string name = draw.limits.architecture + " " + canonical_text(draw.variant) + " " +
                             full_text(draw.config);
    int spills = 0;
    for (const KernelPart part : kernel_parts(draw.config)) {
      const KernelSource source = emit(draw.variant, draw.config, part, draw.limits);
      const auto output = compile_source(source);
      INFO("seed " << seed << ": " << name << "\n" << output.log);
      CHECK(output.status == 0);
      const CompileNotes notes = parse_compile_log(output.log, source.entry);
      CHECK(notes.static_shared_bytes == 0);
      spills = std::max({spills, notes.spill_store_bytes, notes.spill_load_bytes});
    }
    if (spills == 0) continue;
    ++spilled;
    std::printf("%d bytes of spill: %s\n", spills, name.c_str());
  }
  std::printf("%d of %d spill\n", spilled, count);
  CHECK(spilled <= spills_allowed(count));
}

}  // namespace
}  // namespace heddle
