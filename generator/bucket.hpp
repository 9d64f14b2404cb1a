#pragma once

#include "generator/field.hpp"
#include "generator/problem.hpp"

namespace heddle {

/// The part of Sizes that selection may look at: each figure rounded up to a power of two (lengths
/// up to 16 share one bucket), so that decoding at kv = 1, 2, 3 … meets a handful of buckets.
struct SizeBucket {
  int sequences = 1;  ///< batch * kv_heads
  int group = 1;      ///< query heads per KV head, exact
  int seqlen_q = 1;
  int seqlen_kv = 1;

  static constexpr auto fields() {
    return std::make_tuple(field("sequences", &SizeBucket::sequences, "batch * kv_heads"),
                           field("group", &SizeBucket::group, "query heads per KV head"),
                           field("seqlen_q", &SizeBucket::seqlen_q, "queries"),
                           field("seqlen_kv", &SizeBucket::seqlen_kv, "keys"));
  }
  friend bool operator==(const SizeBucket& a, const SizeBucket& b) { return fields_equal(a, b); }
};

SizeBucket bucket_of(const Sizes& sizes);
/// A representative problem size of the bucket (its upper corner).
Sizes representative(const SizeBucket& bucket);

}  // namespace heddle
