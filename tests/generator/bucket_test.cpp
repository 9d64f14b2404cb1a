#include "generator/bucket.hpp"

#include <catch2/catch.hpp>
#include <climits>
#include <random>
#include <set>

#include "generator/candidates.hpp"

namespace heddle {
namespace {

Sizes random_sizes(std::mt19937& random) {
  const auto log_uniform = [&](int largest_exponent) {
    const int exponent = std::uniform_int_distribution(0, largest_exponent)(random);
    return std::uniform_int_distribution(0, 1 << exponent)(random);
  };
  Sizes sizes;
  sizes.batch = log_uniform(16);
  sizes.kv_heads = 1 + log_uniform(7);
  sizes.heads = sizes.kv_heads * std::uniform_int_distribution(1, 16)(random);
  sizes.seqlen_q = log_uniform(20);
  sizes.seqlen_kv = log_uniform(20);
  return sizes;
}

TEST_CASE("Figures round up to powers of two, lengths from 16 on; the group stays exact") {
  const auto bucket =
      bucket_of({.batch = 3, .heads = 28, .kv_heads = 4, .seqlen_q = 1, .seqlen_kv = 1025});
  CHECK(bucket == SizeBucket{.sequences = 16, .group = 7, .seqlen_q = 16, .seqlen_kv = 2048});
  CHECK(bucket_of({.seqlen_q = 17, .seqlen_kv = 64}) ==
        SizeBucket{.sequences = 1, .group = 1, .seqlen_q = 32, .seqlen_kv = 64});
}

TEST_CASE("Decoding from 1 to 4096 keys meets nine buckets") {
  std::set<std::string> buckets;
  for (int keys = 1; keys <= 4096; ++keys) {
    buckets.insert(full_text(bucket_of({.heads = 32, .kv_heads = 8, .seqlen_kv = keys})));
  }
  CHECK(buckets.size() == 9);
}

TEST_CASE("Extremes do not overflow") {
  const auto bucket = bucket_of({.batch = INT_MAX,
                                 .heads = INT_MAX,
                                 .kv_heads = INT_MAX,
                                 .seqlen_q = INT_MAX,
                                 .seqlen_kv = INT_MAX});
  CHECK(bucket.sequences == 1 << 30);
  CHECK(bucket.seqlen_kv == 1 << 30);
  CHECK(bucket_of(representative(bucket)) == bucket);
  const auto empty = bucket_of({.batch = 0, .heads = 0, .seqlen_q = 0, .seqlen_kv = 0});
  CHECK(empty == bucket_of({.batch = 1, .heads = 1, .seqlen_q = 1, .seqlen_kv = 1}));
}

TEST_CASE("A representative lies in its bucket and is its largest") {
  const auto seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  for (int i = 0; i < 2000; ++i) {
    const Sizes sizes = random_sizes(random);
    const SizeBucket bucket = bucket_of(sizes);
    const Sizes corner = representative(bucket);
    INFO(full_text(sizes) << " -> " << full_text(bucket));
    CHECK(bucket_of(corner) == bucket);
    CHECK(corner.seqlen_q >= sizes.seqlen_q);
    CHECK(corner.seqlen_kv >= sizes.seqlen_kv);
    CHECK(corner.batch >= sizes.batch * sizes.kv_heads);
    CHECK(corner.heads == sizes.heads / sizes.kv_heads);
  }
}

TEST_CASE("Any sizes above half of a representative share its bucket, hence its selection") {
  const auto seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  const auto shrink = [&](int& figure, int smallest) {
    if (figure <= smallest) return;
    figure = std::uniform_int_distribution(figure / 2 + 1, figure)(random);
  };
  const DeviceLimits& limits = find_architecture("sm_90a");
  for (int i = 0; i < 500; ++i) {
    const Sizes corner = representative(bucket_of(random_sizes(random)));
    Sizes inside = corner;
    shrink(inside.seqlen_q, 16);
    shrink(inside.seqlen_kv, 16);
    shrink(inside.batch, 1);
    INFO(full_text(corner) << " | " << full_text(inside));
    CHECK(bucket_of(inside) == bucket_of(corner));
    CHECK(default_config(Variant{}, bucket_of(inside), limits) ==
          default_config(Variant{}, bucket_of(corner), limits));
  }
}

}  // namespace
}  // namespace heddle
