#pragma once
// Which key blocks a query tile visits, and which of them need a mask.

#include "instruction/math.cuh"
#include "part/sequence_info.cuh"

namespace heddle {

/// Key blocks [begin, end); those from first_masked on hold an entry that some row may not see.
struct BlockRange {
  int begin;
  int end;
  int first_masked;

  /// The blocks of query rows [first_query, first_query + queries), clipped to the sequence.
  template <class Config>
  static BlockRange of_tile(const SequenceInfo& sequence, int first_query,
                            int queries = Config::kTileM) {
    const int last_query = minimum(first_query + queries, sequence.query_length) - 1;
    const int seen_by_all =
        Config::kCausal ? sequence.causal_keys(first_query) : sequence.key_length;
    const int seen_by_any =
        Config::kCausal ? sequence.causal_keys(last_query) : sequence.key_length;
    BlockRange range;
    range.begin = 0;
    range.end = ceil_divide(seen_by_any, Config::kTileN);
    range.first_masked = Config::kMaskHook ? 0 : seen_by_all / Config::kTileN;
    return range;
  }

  /// What of the range falls to one split.
  BlockRange split(int index, int blocks_per_split) const {
    const long long first = static_cast<long long>(index) * blocks_per_split;
    const long long last = first + blocks_per_split;
    BlockRange range = *this;
    range.begin = first < end ? static_cast<int>(first) : end;
    range.end = last < end ? static_cast<int>(last) : end;
    return range;
  }
};

}  // namespace heddle
