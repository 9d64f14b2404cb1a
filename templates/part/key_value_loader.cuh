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

  KeyValueLoader(Storage& storage, const AttentionParameters& parameters)
      : storage_(storage), parameters_(parameters) {}

  /// Once per block, before the first load.
  static void clear_padding(Storage& storage) {
#pragma unroll
    for (int stage = 0; stage < kStages; ++stage) {
      Copy::clear_padding(storage.key[stage]);
      Copy::clear_padding(storage.value[stage]);
    }
  }

  /// Requests the first blocks of a range. No thread may still be reading the tiles.
  void start(const WorkItem& item, const SequenceInfo& sequence, const BlockRange& range) {
    const int first_row = range.begin * Config::kTileN;
    const long long last = static_cast<long long>(range.end) * Config::kTileN;
    const int end = last < sequence.key_length ? static_cast<int>(last) : sequence.key_length;
    key_ = stream(parameters_.key, item, first_row, end);
    value_ = stream(parameters_.value, item, first_row, end);
    if constexpr (kStages == 1) {
      request_key(0);
      copy_async_commit();
    } else {
#pragma unroll 1
      for (int ahead = 0; ahead < kStages - 1; ++ahead) request_block(ahead);
      read_stage_ = 0;
      write_stage_ = kStages - 1;
    }
  }

  // One call of wait_key, then one of wait_value, for each block of the range in turn, by every
  // thread of the block of threads.

  /// Returns when the next block's K lies in shared memory.
  const Tile& wait_key() {
    if constexpr (kStages == 1) {
      copy_async_wait<0>();
      sync_block();
      request_value(0);
      copy_async_commit();
      return storage_.key[0];
    } else {
      copy_async_wait<kStages - 2>();
      sync_block();
      request_block(write_stage_);
      write_stage_ = next(write_stage_);
      return storage_.key[read_stage_];
    }
  }

  /// Returns when the same block's V does.
  Tile& wait_value() {
    if constexpr (kStages == 1) {
      copy_async_wait<0>();
      sync_block();
      request_key(0);
      copy_async_commit();
      return storage_.value[0];
    } else {
      Tile& value = storage_.value[read_stage_];
      read_stage_ = next(read_stage_);
      return value;
    }
  }

 private:
  /// What is still to be requested of K or of V. The pointer is this thread's own and runs along:
  /// computing it anew for each block would cost registers for all that goes into it.
  struct Stream {
    const Element* thread_source;
    int rows_left;
  };

  static int next(int stage) {
    return stage + 1 == kStages ? 0 : stage + 1;
  }

  static Stream stream(const TensorView& view, const WorkItem& item, int first_row, int end_row) {
    const Element* source = tensor_row<Element>(view, item.batch, item.kv_head, first_row);
    return Stream{Copy::thread_source(source, view.row_stride), end_row - first_row};
  }

  void request_block(int stage) {
    request_key(stage);
    request_value(stage);
    copy_async_commit();
  }

  void request_key(int stage) {
    request(storage_.key[stage], key_, parameters_.key.row_stride);
  }

  void request_value(int stage) {
    request(storage_.value[stage], value_, parameters_.value.row_stride);
  }

  static void request(Tile& tile, Stream& stream, long long row_stride) {
    if (stream.rows_left > 0) {
      Copy::load_thread_pieces(tile, stream.thread_source, row_stride, stream.rows_left);
    }
    stream.thread_source += Config::kTileN * row_stride;
    stream.rows_left -= Config::kTileN;
  }

  Storage& storage_;
  const AttentionParameters& parameters_;
  Stream key_;
  Stream value_;
  int read_stage_ = 0;
  int write_stage_ = 0;
};

}  // namespace heddle
