#pragma once
// Streams key and value blocks into shared memory.

#include "part/block_range.cuh"
#include "part/scheduler.cuh"
#include "part/shared_tile.cuh"

namespace heddle {

/// With one stage, V of a block streams in behind the block's Q K^T and K of the next block behind
/// softmax and P V (two barriers a block). With more, whole blocks are requested kStages - 1 ahead
/// (one barrier a block).
template <class Config>
class KeyValueLoader {
  using Element = typename Config::Element;
  using Copy = TileCopy<Config, Config::kTileN>;
  using Tile = typename Copy::Tile;
  static constexpr int kStages = Config::kStages;
  static_assert(kStages >= 1);

 public:
  /// Copy groups of this thread that may be pending after `start`.
  static constexpr int kGroupsAhead = kStages == 1 ? 1 : kStages - 1;

  struct Storage {
    Tile key[kStages];
    Tile value[kStages];
  };

  KeyValueLoader(Storage& storage, const AttentionParameters& parameters, const WorkItem& item,
                 const SequenceInfo& sequence)
      : storage_(storage),
        key_(tensor_row<Element>(parameters.key, item.batch, item.kv_head, 0)),
        value_(tensor_row<Element>(parameters.value, item.batch, item.kv_head, 0)),
        key_stride_(parameters.key.row_stride),
        value_stride_(parameters.value.row_stride),
        length_(sequence.key_length) {}

  /// Once per block, before the first load.
  void clear_padding() {
#pragma unroll
    for (int stage = 0; stage < kStages; ++stage) {
      Copy::clear_padding(storage_.key[stage]);
      Copy::clear_padding(storage_.value[stage]);
    }
  }

  /// Requests the first blocks of a range. No thread may still be reading the tiles.
  void start(const BlockRange& range) {
    end_ = range.end;
    if constexpr (kStages == 1) {
      request_key(range.begin, 0);
      copy_async_commit();
    } else {
#pragma unroll
      for (int ahead = 0; ahead < kStages - 1; ++ahead) {
        request_block(range.begin + ahead, ahead);
      }
      read_stage_ = 0;
      write_stage_ = kStages - 1;
    }
  }

  /// Returns when K of `block` lies in shared memory; every thread of the block calls it.
  const Tile& wait_key(int block) {
    if constexpr (kStages == 1) {
      copy_async_wait<0>();
      sync_block();
      request_value(block, 0);
      copy_async_commit();
      return storage_.key[0];
    } else {
      copy_async_wait<kStages - 2>();
      sync_block();
      request_block(block + kStages - 1, write_stage_);
      write_stage_ = next(write_stage_);
      return storage_.key[read_stage_];
    }
  }

  /// The same for V; wait_key(block) came before.
  Tile& wait_value(int block) {
    if constexpr (kStages == 1) {
      copy_async_wait<0>();
      sync_block();
      request_key(block + 1, 0);
      copy_async_commit();
      return storage_.value[0];
    } else {
      Tile& value = storage_.value[read_stage_];
      read_stage_ = next(read_stage_);
      return value;
    }
  }

 private:
  static int next(int stage) {
    return stage + 1 == kStages ? 0 : stage + 1;
  }

  void request_block(int block, int stage) {
    request_key(block, stage);
    request_value(block, stage);
    copy_async_commit();
  }

  void request_key(int block, int stage) {
    request(storage_.key[stage], key_, key_stride_, block);
  }

  void request_value(int block, int stage) {
    request(storage_.value[stage], value_, value_stride_, block);
  }

  void request(Tile& tile, const Element* source, long long stride, int block) {
    if (block >= end_) return;
    const int first_row = block * Config::kTileN;
    Copy::load(tile, source + first_row * stride, stride, length_ - first_row);
  }

  Storage& storage_;
  const Element* key_;
  const Element* value_;
  long long key_stride_;
  long long value_stride_;
  int length_;
  int end_ = 0;
  int read_stage_ = 0;
  int write_stage_ = 0;
};

}  // namespace heddle
