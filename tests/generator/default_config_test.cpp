#include <algorithm>

#include <catch2/catch.hpp>

#include "generator/candidates.hpp"
#include "generator/legality.hpp"

namespace heddle {
namespace {

SizeBucket bucket(int sequences, int group, int seqlen_q, int seqlen_kv) {
  return {.sequences = sequences, .group = group, .seqlen_q = seqlen_q, .seqlen_kv = seqlen_kv};
}

/// By hand, not by way of reject(): fa3 wants TMA and WGMMA, and of fp16 one chain of sums.
bool runs_fa3(const Variant& variant, const DeviceLimits& limits) {
  return limits.architecture == "sm_90a" && variant.alignment == 16 &&
         (variant.dtype != DataType::kFp16 || variant.head_dim <= 128);
}

void check_default(const Variant& variant, int seqlen_q, const DeviceLimits& limits) {
  const auto config = default_config(variant, bucket(1, 1, seqlen_q, 4096), limits);
  INFO(limits.architecture << " " << full_text(variant) << " " << canonical_text(config));
  CHECK_FALSE(reject(variant, config, limits).has_value());
  CHECK(config.family == (runs_fa3(variant, limits) ? Family::kFa3 : Family::kFa2));
  // Not by way of reject(): a bug there must not hide a kernel that cannot launch.
  CHECK(part_footprint(variant, config, *kernel_parts(config).begin()).shared_bytes <=
        limits.shared_bytes_per_block);
  // Of every family that picks one: fa2's serve --family fa2, and where an fa3 does not load.
  const auto fa2 = default_config(Family::kFa2, variant, bucket(1, 1, seqlen_q, 4096), limits);
  REQUIRE(fa2);
  CHECK(fa2->family == Family::kFa2);
  CHECK(part_footprint(variant, *fa2, KernelPart::kFa2Attention).shared_bytes <=
        limits.shared_bytes_per_block);
}

TEST_CASE("C59 the default is legal for every variant, size and architecture") {
  for (const DeviceLimits& limits : architecture_table()) {
    for (int head_dim = 8; head_dim <= 256; head_dim += 8) {
      for (const int seqlen_q : {16, 32, 64, 128, 4096}) {
        for (const DataType dtype : {DataType::kFp16, DataType::kBf16}) {
          for (const int alignment : {2, 16}) {
            check_default({.dtype = dtype, .head_dim = head_dim, .alignment = alignment}, seqlen_q,
                          limits);
          }
          check_default({.dtype = dtype, .head_dim = head_dim, .mask = MaskKind::kCausal}, seqlen_q,
                        limits);
        }
      }
    }
  }
}

TEST_CASE(
    "The default of e4m3 inputs is legal for every head dim, kind of scales and layout of V") {
  const DeviceLimits& limits = find_architecture("sm_90a");
  for (int head_dim = 32; head_dim <= 256; head_dim += 32) {
    for (const ValueLayout layout : {ValueLayout::kRows, ValueLayout::kTransposed}) {
      for (const ScaleKind scales : {ScaleKind::kHead, ScaleKind::kBlock, ScaleKind::kToken}) {
        for (const MaskKind mask : {MaskKind::kFull, MaskKind::kCausal}) {
          for (const int seqlen_q : {1, 64, 4096}) {
            const Variant variant{.dtype = DataType::kE4m3,
                                  .head_dim = head_dim,
                                  .mask = mask,
                                  .scales = scales,
                                  .value_layout = layout};
            const auto config = default_config(variant, bucket(1, 1, seqlen_q, 4096), limits);
            INFO(full_text(variant) << ' ' << canonical_text(config));
            CHECK(config.family == Family::kFa3);
            CHECK_FALSE(reject(variant, config, limits).has_value());
          }
        }
      }
    }
  }
}

TEST_CASE("The default of sm_90a is a config that the tuner tries: what it tries is verified") {
  const DeviceLimits& limits = find_architecture("sm_90a");
  int seen = 0;
  for (const DataType dtype : {DataType::kFp16, DataType::kBf16, DataType::kE4m3}) {
    for (const int head_dim : {32, 64, 96, 128, 160, 256}) {
      for (const MaskKind mask : {MaskKind::kFull, MaskKind::kCausal}) {
        const Variant variant{.dtype = dtype, .head_dim = head_dim, .mask = mask};
        const auto tried = enumerate_candidates(variant, limits);
        for (const int group : {1, 4}) {
          for (const int seqlen_q : {16, 64, 128, 512, 4096}) {
            for (const int seqlen_kv : {256, 1024, 32768}) {
              const auto config =
                  default_config(variant, bucket(8, group, seqlen_q, seqlen_kv), limits);
              INFO(full_text(variant)
                   << ' ' << seqlen_q << " x " << seqlen_kv << ' ' << canonical_text(config));
              CHECK(std::count(tried.begin(), tried.end(), config) == 1);
              ++seen;
            }
          }
        }
      }
    }
  }
  CHECK(seen == 3 * 6 * 2 * 2 * 5 * 3);
}

TEST_CASE("Decoding on sm_90a reads K and V once for the heads that share them") {
  const DeviceLimits& limits = find_architecture("sm_90a");
  const auto decodes = [&](const SizeBucket& sizes) {
    return default_config(Variant{.mask = MaskKind::kCausal}, sizes, limits);
  };
  for (const int group : {4, 8, 16, 64}) {
    // One query each: a tile a KV head, of which 64 leave half of the 132 SMs without work.
    const KernelConfig few = decodes(bucket(64, group, 16, 4096));
    CHECK(few.family == Family::kFa3);
    CHECK(few.tile_m == 64);
    CHECK(few.pack_gqa);
    CHECK(few.split_kv);
    const KernelConfig many = decodes(bucket(128, group, 16, 4096));
    CHECK(many.pack_gqa);
    CHECK_FALSE(many.split_kv);
  }
  CHECK_FALSE(decodes(bucket(8, 1, 16, 4096)).pack_gqa);
  CHECK(decodes(bucket(8, 1, 16, 4096)).split_kv);
}

TEST_CASE("A split takes what does not go with it away") {
  KernelConfig config;
  config.family = Family::kFa3;
  config.tile_m = 192;
  config.warps = 12;
  config.ping_pong = config.tma_store = config.skip_masked = true;
  const KernelConfig split = with_split_keys(config);
  CHECK(canonical_text(split) == "family=fa3,tile_m=128,warps=8,split_kv=true");
  CHECK(canonical_text(with_split_keys({})) == "split_kv=true");
}

TEST_CASE("Keys are split only where they are many and blocks are few") {
  const DeviceLimits& limits = find_architecture(GENERATE("sm_80", "sm_90a"));
  const auto splits = [&](const SizeBucket& sizes) {
    return default_config(Variant{}, sizes, limits).split_kv;
  };
  CHECK(splits(bucket(8, 4, 16, 4096)));          // decoding, one sequence
  CHECK(splits(bucket(4, 1, 1024, 16384)));       // a short prompt after a long one
  CHECK_FALSE(splits(bucket(8, 4, 16, 256)));     // too few keys
  CHECK_FALSE(splits(bucket(512, 4, 16, 4096)));  // decoding, many sequences
  CHECK_FALSE(splits(bucket(16, 1, 16384, 16384)));
}

TEST_CASE("Short queries do not get tall tiles") {
  for (const int seqlen_q : {16, 32, 64}) {
    const auto tile_of = [&](const char* architecture) {
      const DeviceLimits& limits = find_architecture(architecture);
      return default_config(Variant{}, bucket(64, 4, seqlen_q, 1024), limits).tile_m;
    };
    CHECK(tile_of("sm_80") == seqlen_q);
    CHECK(tile_of("sm_90a") == 64);  // a warpgroup's
  }
}

TEST_CASE("A refused variant and a device too small for any kernel are told apart") {
  const auto code_of = [](const Variant& variant, const DeviceLimits& limits) {
    try {
      default_config(variant, bucket(1, 1, 128, 128), limits);
    } catch (const Error& error) {
      return error.code();
    }
    return ErrorCode::kInternal;
  };
  DeviceLimits limits = find_architecture("sm_86");
  CHECK(code_of(Variant{.head_dim = 100}, limits) == ErrorCode::kInvalidArgument);
  CHECK(code_of(Variant{.paged_kv = true}, limits) == ErrorCode::kUnsupported);
  limits.shared_bytes_per_block = 16 * 1024;
  CHECK(code_of(Variant{}, limits) == ErrorCode::kNoLegalConfig);
}

}  // namespace
}  // namespace heddle
