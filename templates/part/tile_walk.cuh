#pragma once
// Which query tiles a block works on, one after the other: all roles of the block walk alike.

#include "instruction/grid.cuh"
#include "instruction/math.cuh"
#include "instruction/thread.cuh"
#include "parameters.cuh"
#include "part/scheduler.cuh"

namespace heddle {

/// Tiles block_index(), block_index() + block_count() ... of an order in which neighbours share
/// keys and values: the tiles of a head follow each other, or, where the longest come first, the
/// tiles of one length of a group of heads whose keys and values fit L2 together.
template <class Config>
class TileWalk {
 public:
  explicit TileWalk(const AttentionParameters& parameters)
      : parameters_(parameters),
        index_(static_cast<unsigned>(block_index())),
        count_(static_cast<unsigned>(parameters.query_tiles) *
               static_cast<unsigned>(parameters.heads) * static_cast<unsigned>(parameters.batch)) {}

  bool more() const { return index_ < count_; }
  void next() { index_ += static_cast<unsigned>(block_count()); }

  WorkItem item() const {
    const auto tiles = static_cast<unsigned>(parameters_.query_tiles);
    const auto heads = static_cast<unsigned>(parameters_.heads);
    unsigned flat_head = index_ / tiles;
    unsigned tile = index_ % tiles;
    if constexpr (Config::kLongestFirst) {
      const unsigned all = count_ / tiles;
      const unsigned group = index_ / (tiles * group_heads()) * group_heads();
      const unsigned members = all - group < group_heads() ? all - group : group_heads();
      const unsigned within = index_ - group * tiles;
      flat_head = group + within % members;
      tile = tiles - 1 - within / members;
    }
    WorkItem item{};
    item.query_tile = static_cast<int>(tile);
    item.head = static_cast<int>(flat_head % heads);
    item.batch = static_cast<int>(flat_head / heads);
    item.kv_head = item.head / (parameters_.heads / parameters_.kv_heads);
    return item;
  }

 private:
  /// Query heads whose keys and values fill 32 MB: what an L2 of 50 MB keeps.
  unsigned group_heads() const {
    constexpr long long kGroupBytes = 32 << 20;
    const long long head_bytes = 4LL * Config::kHeadDim * parameters_.seqlen_kv;
    const long long sharing = parameters_.heads / parameters_.kv_heads;
    const long long heads = kGroupBytes / head_bytes * sharing;
    return heads < sharing ? static_cast<unsigned>(sharing) : static_cast<unsigned>(heads);
  }

  const AttentionParameters& parameters_;
  unsigned index_;
  unsigned count_;
};

}  // namespace heddle
