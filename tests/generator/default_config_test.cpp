#include <catch2/catch.hpp>

#include "generator/candidates.hpp"
#include "generator/legality.hpp"

namespace heddle {
namespace {

SizeBucket bucket(int sequences, int group, int seqlen_q, int seqlen_kv) {
  return {.sequences = sequences, .group = group, .seqlen_q = seqlen_q, .seqlen_kv = seqlen_kv};
}

void check_default(const Variant& variant, int seqlen_q, const DeviceLimits& limits) {
  const auto config = default_config(variant, bucket(1, 1, seqlen_q, 4096), limits);
  INFO(limits.architecture << " " << full_text(variant) << " " << canonical_text(config));
  CHECK_FALSE(reject(variant, config, limits).has_value());
  CHECK(config.family == Family::kFa2);
  // Not by way of reject(): a bug there must not hide a kernel that cannot launch.
  CHECK(part_footprint(variant, config, KernelPart::kFa2Attention).shared_bytes <=
        limits.shared_bytes_per_block);
}

TEST_CASE("C59 the default is legal for every variant, size and architecture") {
  for (const DeviceLimits& limits : architecture_table()) {
    for (int head_dim = 8; head_dim <= 256; head_dim += 8) {
      for (const int seqlen_q : {16, 32, 64, 128, 4096}) {
        for (const int alignment : {2, 16}) {
          check_default({.head_dim = head_dim, .alignment = alignment}, seqlen_q, limits);
        }
        check_default({.head_dim = head_dim, .mask = MaskKind::kCausal}, seqlen_q, limits);
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

TEST_CASE("Keys are split only where they are many and blocks are few") {
  const DeviceLimits& limits = find_architecture("sm_90a");
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
  const DeviceLimits& limits = find_architecture("sm_90a");
  for (const int seqlen_q : {16, 32, 64}) {
    CHECK(default_config(Variant{}, bucket(64, 4, seqlen_q, 1024), limits).tile_m == seqlen_q);
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
