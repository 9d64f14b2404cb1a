#include "generator/bucket.hpp"

#include <algorithm>
#include <bit>

namespace heddle {
namespace {

/// The largest power of two an int holds; longer sizes share its bucket.
constexpr long long kLargest = 1LL << 30;
/// Lengths up to this share one bucket: no tile of any family is smaller.
constexpr long long kShortest = 16;

int round_up(long long value, long long smallest) {
  const auto clamped = static_cast<unsigned long long>(std::clamp(value, smallest, kLargest));
  return static_cast<int>(std::bit_ceil(clamped));
}

}  // namespace

SizeBucket bucket_of(const Sizes& sizes) {
  const int kv_heads = std::max(sizes.resolved_kv_heads(), 1);
  return {.sequences = round_up(static_cast<long long>(sizes.batch) * kv_heads, 1),
          .group = std::max(sizes.heads / kv_heads, 1),
          .seqlen_q = round_up(sizes.seqlen_q, kShortest),
          .seqlen_kv = round_up(sizes.seqlen_kv, kShortest)};
}

Sizes representative(const SizeBucket& bucket) {
  Sizes sizes;
  sizes.batch = bucket.sequences;
  sizes.heads = bucket.group;
  sizes.kv_heads = 1;
  sizes.seqlen_q = bucket.seqlen_q;
  sizes.seqlen_kv = bucket.seqlen_kv;
  return sizes;
}

}  // namespace heddle
