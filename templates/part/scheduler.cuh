#pragma once
// Which piece of the problem a block works on.

#include "instruction/thread.cuh"
#include "parameters.cuh"

namespace heddle {

struct WorkItem {
  int query_tile;
  int split;
  int head;
  int kv_head;
  int batch;
};

/// One item per block; the query tile varies fastest, so that the blocks which run at the same time
/// share one head's keys and values in L2.
template <class Config>
struct Scheduler {
  static WorkItem item(const AttentionParameters& parameters) {
    unsigned rest = static_cast<unsigned>(block_index());
    WorkItem item;
    item.query_tile = take(rest, parameters.query_tiles);
    item.split = Config::kSplitKv ? take(rest, parameters.num_splits) : 0;
    item.head = take(rest, parameters.heads);
    item.batch = static_cast<int>(rest);
    item.kv_head = item.head / (parameters.heads / parameters.kv_heads);
    // Under a causal mask the last tiles see the most keys: starting them first lets the short
    // ones fill the gaps at the end.
    if constexpr (Config::kLongestFirst) {
      item.query_tile = parameters.query_tiles - 1 - item.query_tile;
    }
    return item;
  }

 private:
  static int take(unsigned& index, int extent) {
    const unsigned digit = index % static_cast<unsigned>(extent);
    index /= static_cast<unsigned>(extent);
    return static_cast<int>(digit);
  }
};

}  // namespace heddle
