#include "generator/candidates.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "generator/knobs.hpp"
#include "generator/legality.hpp"

namespace heddle {
namespace {

std::vector<Variant> measured_variants() {
  std::vector<Variant> variants;
  for (const DataType dtype : {DataType::kFp16, DataType::kBf16}) {
    for (const int head_dim : {64, 96, 128, 256}) {
      for (const MaskKind mask : {MaskKind::kFull, MaskKind::kCausal}) {
        variants.push_back({.dtype = dtype, .head_dim = head_dim, .mask = mask});
      }
    }
  }
  return variants;
}

TEST_CASE("At least 60 legal candidates for every measured variant, each family among them") {
  const DeviceLimits& limits = find_architecture("sm_90a");
  for (const Variant& variant : measured_variants()) {
    INFO(full_text(variant));
    CHECK(enumerate_candidates(variant, limits).size() >= 60);
    for (const Family family : {Family::kUnfused, Family::kFa1, Family::kFa2}) {
      CHECK_FALSE(enumerate_candidates(variant, limits, family).empty());
    }
  }
}

TEST_CASE("fa2 has candidates on every architecture, whatever the head dimension") {
  for (const DeviceLimits& limits : architecture_table()) {
    for (const int head_dim : {8, 40, 64, 104, 128, 200, 256}) {
      INFO(limits.architecture << " head_dim " << head_dim);
      CHECK_FALSE(
          enumerate_candidates(Variant{.head_dim = head_dim}, limits, Family::kFa2).empty());
    }
  }
}

bool fits(const Variant& variant, const KernelConfig& config, const DeviceLimits& limits) {
  const KernelParts parts = kernel_parts(config);
  return std::all_of(parts.begin(), parts.end(), [&](KernelPart part) {
    return part_footprint(variant, config, part).shared_bytes <= limits.shared_bytes_per_block;
  });
}

TEST_CASE("C59 candidates are legal, distinct and within the device's shared memory") {
  for (const char* architecture : {"sm_86", "sm_90a"}) {
    const DeviceLimits& limits = find_architecture(architecture);
    for (const Variant& variant : measured_variants()) {
      const auto configs = enumerate_candidates(variant, limits);
      std::set<std::string> texts;
      for (const KernelConfig& config : configs) {
        texts.insert(canonical_text(config));
        if (!reject(variant, config, limits) && fits(variant, config, limits)) continue;
        FAIL_CHECK(architecture << ", " << full_text(variant) << ": " << canonical_text(config));
      }
      CHECK(texts.size() == configs.size());
    }
  }
}

/// Knobs without effect that a config sets all the same.
std::string idle_knobs(const KernelConfig& config, const Variant& variant) {
  const KernelConfig defaults;
  std::string names;
  for_each_field(config, [&](const auto& knob, const auto& value) {
    const bool idle = !knob_applies(knob.name, config.family, variant);
    if (idle && value != defaults.*(knob.member)) names += std::string(knob.name) + ' ';
  });
  return names;
}

TEST_CASE("A knob without effect keeps its default, so that no two candidates emit one text") {
  const DeviceLimits& limits = find_architecture("sm_90a");
  for (const Variant& variant : measured_variants()) {
    for (const KernelConfig& config : enumerate_candidates(variant, limits)) {
      const std::string names = idle_knobs(config, variant);
      if (!names.empty()) FAIL_CHECK(names << "in " << canonical_text(config));
    }
  }
}

TEST_CASE("The order is fixed, and one family's list is a part of all") {
  const DeviceLimits& limits = find_architecture("sm_90a");
  const auto all = enumerate_candidates(Variant{}, limits);
  CHECK(all == enumerate_candidates(Variant{}, limits));
  const auto fa2 = enumerate_candidates(Variant{}, limits, Family::kFa2);
  CHECK(std::search(all.begin(), all.end(), fa2.begin(), fa2.end()) != all.end());
  CHECK(enumerate_candidates(Variant{}, limits, Family::kReference).empty());
}

TEST_CASE("A variant that is refused has no candidates") {
  const DeviceLimits& limits = find_architecture("sm_90a");
  CHECK(enumerate_candidates(Variant{.head_dim = 100}, limits).empty());
  CHECK(enumerate_candidates(Variant{.softcap = 30}, limits).empty());
}

TEST_CASE("Ranking holds every candidate, cheapest first") {
  const DeviceLimits& limits = find_architecture("sm_90a");
  Problem problem;
  problem.sizes = {.batch = 4, .heads = 16, .kv_heads = 4, .seqlen_q = 4096, .seqlen_kv = 4096};
  const auto ranked = rank_candidates(problem, limits);
  CHECK(ranked.size() == enumerate_candidates(problem.variant, limits).size());
  CHECK(std::is_sorted(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) {
    return a.prediction.seconds < b.prediction.seconds;
  }));
  CHECK(ranked.front().prediction.seconds ==
        predict(problem, ranked.front().config, limits).seconds);
}

TEST_CASE("Checked sums are ranked where there are 12 blocks of keys at least") {
  const DeviceLimits& limits = find_architecture("sm_90a");
  Problem problem;
  problem.sizes = {.batch = 4, .heads = 16, .seqlen_q = 1024, .seqlen_kv = 12 * 80};
  std::set<int> tiles;
  for (const RankedConfig& ranked : rank_candidates(problem, limits)) {
    if (ranked.config.running_max == RunningMax::kCheckedSum) tiles.insert(ranked.config.tile_n);
  }
  CHECK(tiles == std::set<int>{64, 80});
}

TEST_CASE("Heads are packed where several share keys, and that is expected to pay when decoding") {
  const DeviceLimits& limits = find_architecture("sm_90a");
  Problem problem;
  problem.sizes = {.heads = 32, .kv_heads = 8, .seqlen_q = 1, .seqlen_kv = 32768};
  const KernelConfig best = rank_candidates(problem, limits).front().config;
  CHECK(best.pack_gqa);
  CHECK(best.split_kv);
  problem.sizes.kv_heads = 32;
  for (const RankedConfig& candidate : rank_candidates(problem, limits)) {
    CHECK_FALSE(candidate.config.pack_gqa);
  }
}

}  // namespace
}  // namespace heddle
