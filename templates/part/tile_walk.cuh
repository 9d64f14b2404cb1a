#pragma once
// Which query tiles a block works on, one after the other.

#include "instruction/atomic.cuh"
#include "instruction/grid.cuh"
#include "instruction/math.cuh"
#include "instruction/thread.cuh"
#include "parameters.cuh"
#include "part/scheduler.cuh"

namespace heddle {

/// An order of all work items in which neighbours share keys and values: the tiles of a head (of a
/// pack of heads, of one split of the keys) follow each other, or, where the longest come first,
/// the tiles of one length of a group of heads whose keys and values fit L2 together.
template <class Config>
class TileOrder {
 public:
  explicit TileOrder(const AttentionParameters& parameters)
      : tiles_(static_cast<unsigned>(parameters.query_tiles)),
        splits_(Config::kSplitKv ? static_cast<unsigned>(parameters.num_splits) : 1),
        group_heads_(static_cast<unsigned>(parameters.heads / parameters.kv_heads)),
        packed_(Config::kPackGqa ? static_cast<unsigned>(parameters.packed_heads) : 1),
        sharing_(Config::kPackGqa ? (group_heads_ + packed_ - 1) / packed_ : group_heads_),
        packs_(sharing_ * static_cast<unsigned>(parameters.kv_heads)),
        walks_(packs_ * static_cast<unsigned>(parameters.batch) * splits_),
        group_(Config::kLongestFirst ? group_packs(parameters) * splits_ : 1) {}

  unsigned count() const { return tiles_ * walks_; }

  WorkItem item(unsigned index) const {
    unsigned walk = index / tiles_;
    unsigned tile = index % tiles_;
    if constexpr (Config::kLongestFirst) {
      const unsigned first = index / (tiles_ * group_) * group_;
      const unsigned members = walks_ - first < group_ ? walks_ - first : group_;
      const unsigned within = index - first * tiles_;
      walk = first + within % members;
      tile = tiles_ - 1 - within / members;
    }
    const unsigned pack = walk / splits_;
    WorkItem item{};
    item.query_tile = static_cast<int>(tile);
    item.split = static_cast<int>(walk % splits_);
    item.batch = static_cast<int>(pack / packs_);
    item.kv_head = static_cast<int>(pack % packs_ / sharing_);
    item.head = Config::kPackGqa
                    ? static_cast<int>(group_heads_ * item.kv_head + pack % sharing_ * packed_)
                    : static_cast<int>(pack % packs_);
    return item;
  }

 private:
  /// Packs of a group: those that share keys and values stay together, and all keys and values of
  /// a group fill at most 32 MB where they can: what an L2 of 50 MB keeps. Groups are about equal,
  /// so that the last one too has short tiles enough to end with.
  unsigned group_packs(const AttentionParameters& parameters) const {
    constexpr long long kGroupBytes = 32 << 20;
    const long long head_bytes = 4LL * Config::kHeadDim * maximum(parameters.seqlen_kv, 1);
    const long long fitting = kGroupBytes / head_bytes;
    const unsigned sharers = packs_ * static_cast<unsigned>(parameters.batch) / sharing_;
    const unsigned most = fitting < 1         ? 1
                          : fitting < sharers ? static_cast<unsigned>(fitting)
                                              : sharers;
    const unsigned groups = (sharers + most - 1) / most;
    return (sharers + groups - 1) / groups * sharing_;
  }

  unsigned tiles_;
  unsigned splits_;
  unsigned group_heads_;  ///< query heads that read the same keys
  unsigned packed_;       ///< of those, how many share a tile
  unsigned sharing_;      ///< packs that read the same keys
  unsigned packs_;        ///< of a sequence
  unsigned walks_;        ///< splits of all packs of all sequences
  unsigned group_;        ///< walks of a group
};

/// The tiles of this block. Without a counter they are block_index(), block_index() +
/// block_count() and so on; with one, blocks draw the next tile as they come to it.
template <class Config>
class TileWalk {
 public:
  explicit TileWalk(const AttentionParameters& parameters)
      : counter_(parameters.tile_counter),
        index_(static_cast<unsigned>(block_index())),
        count_(TileOrder<Config>(parameters).count()) {}

  bool has(unsigned index) const { return index < count_; }
  bool more() const { return has(index_); }
  unsigned index() const { return index_; }

  /// Draws the tile after this one. That takes as long as a load, so it comes before the last work
  /// on this one, and move_to() after it.
  unsigned draw() const {
    if constexpr (!Config::kPersistent) return count_;
    const auto blocks = static_cast<unsigned>(block_count());
    if constexpr (Config::kDynamicTiles) {
      // The first block_count() tiles are not drawn, but each block draws once in vain: the
      // counter is drawn from count_ times, and so at 0 again for the next launch.
      if (counter_ != nullptr) return blocks + atomic_increment(counter_, count_ - 1);
    }
    return index_ + blocks;
  }
  void move_to(unsigned index) { index_ = index; }

 private:
  unsigned* counter_;
  unsigned index_;
  unsigned count_;
};

}  // namespace heddle
