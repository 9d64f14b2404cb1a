#pragma once
// Streams key and value blocks for a kernel that uses each block for several steps, in either
// direction.

#include "instruction/opaque.cuh"
#include "part/block_range.cuh"
#include "part/scheduler.cuh"
#include "part/shared_tile.cuh"

namespace heddle {

/// A ring of kStages key tiles and one of kStages value tiles. A tile is requested as soon as the
/// one before it in its place is done with: K in release_key, V in the next wait_key. Even a single
/// stage thus loads while the block computes. Every thread of the block makes every call.
template <class Config>
class KeyValueWalk {
  using Element = typename Config::Element;
  using Copy = TileCopy<Config, Config::kTileN>;
  static constexpr int kStages = Config::kStages;
  /// Copy groups younger than the one waited for: K and V alternate.
  static constexpr int kPending = 2 * (kStages - 1);

 public:
  using Tile = typename Copy::Tile;

  struct Storage {
    Tile key[kStages];
    Tile value[kStages];
  };

  KeyValueWalk(Storage& storage, const AttentionParameters& parameters, const WorkItem& item,
               const SequenceInfo& sequence)
      : storage_(storage),
        key_(tensor_row<Element>(parameters.key, item.batch, item.kv_head, 0)),
        value_(tensor_row<Element>(parameters.value, item.batch, item.kv_head, 0)),
        key_stride_(parameters.key.row_stride),
        value_stride_(parameters.value.row_stride),
        length_(sequence.key_length) {}

  /// Once per kernel, before the first load.
  void clear_padding() {
    for (Tile& tile : storage_.key) Copy::clear_padding(tile);
    for (Tile& tile : storage_.value) Copy::clear_padding(tile);
  }

  /// Requests the first blocks of a walk over `range`. No thread may still be reading the tiles.
  void start(const BlockRange& range, bool backwards) {
    first_ = backwards ? range.end - 1 : range.begin;
    direction_ = backwards ? -1 : 1;
    count_ = range.end - range.begin;
    stage_ = 0;
#pragma unroll
    for (int i = 0; i < kStages; ++i) {
      request_key(i, i);
      if (i + 1 < kStages) request_value(i, i);
    }
  }

  int count() const {
    return count_;
  }
  /// The key block that step i visits.
  int block(int i) const {
    return first_ + direction_ * i;
  }

  const Tile& wait_key(int i) {
    copy_async_wait<kPending>();
    sync_block();
    request_value(i + kStages - 1, (stage_ + kStages - 1) % kStages);
    return storage_.key[stage_];
  }

  Tile& wait_value() {
    copy_async_wait<kPending>();
    sync_block();
    return storage_.value[stage_];
  }

  /// K of step i is no longer needed; V stays until the next wait_key.
  void release_key(int i) {
    sync_block();
    request_key(i + kStages, stage_);
    stage_ = stage_ + 1 == kStages ? 0 : stage_ + 1;
  }

 private:
  void request_key(int i, int stage) {
    request(storage_.key[stage], key_, key_stride_, i);
  }
  void request_value(int i, int stage) {
    request(storage_.value[stage], value_, value_stride_, i);
  }

  void request(Tile& tile, const Element* source, long long stride, int i) {
    if (i < count_) {
      const int first_row = block(i) * Config::kTileN;
      Copy::load(tile, source + first_row * stride, opaque(stride), length_ - first_row);
    }
    copy_async_commit();
  }

  Storage& storage_;
  const Element* key_;
  const Element* value_;
  long long key_stride_;
  long long value_stride_;
  int length_;
  int first_ = 0;
  int direction_ = 1;
  int count_ = 0;
  int stage_ = 0;
};

}  // namespace heddle
