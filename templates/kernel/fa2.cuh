#pragma once
// FlashAttention-2 (sm_80+): a block owns kTileM query rows of one head and walks its key blocks;
// each warp owns kTileM / kWarps of the rows from the first Q K^T to the store, so that warps
// exchange nothing. The output is normalised once, at the end.

#include "part/block_range.cuh"
#include "part/epilogue.cuh"
#include "part/exact_rows.cuh"
#include "part/fragment.cuh"
#include "part/key_value_loader.cuh"
#include "part/log_sum_exp.cuh"
#include "part/mask.cuh"
#include "part/sanitize.cuh"
#include "part/scheduler.cuh"
#include "part/sequence_info.cuh"
#include "part/shared_tile.cuh"
#include "part/softmax.cuh"

namespace heddle::fa2 {

template <class Config>
struct SharedStorage {
  SharedTile<typename Config::Element, Config::kTileM, Config::kHeadDimPadded> query;
  typename KeyValueLoader<Config>::Storage key_value;
};

/// What one block does. Cheap to find out again, hence not kept across the main loop.
template <class Config>
struct Work {
  WorkItem item;
  SequenceInfo sequence;
  int first_query;
  BlockRange range;

  explicit Work(const AttentionParameters& parameters)
      : item(Scheduler<Config>::item(parameters)),
        sequence(parameters, item.batch),
        first_query(item.query_tile * Config::kTileM),
        range(BlockRange::of_tile<Config>(sequence, first_query)) {
    if constexpr (Config::kSplitKv) range = range.split(item.split, parameters.split_tiles);
  }
};

/// The rows of one warp.
template <class Config>
struct WarpTile {
  using Element = typename Config::Element;
  static constexpr int kRows = Config::kTileM / Config::kWarps;
  static constexpr int kRowTiles = kRows / 16;
  static constexpr int kKeyTiles = Config::kTileN / 8;
  static constexpr int kDepthTiles = Config::kHeadDimPadded / 8;
  static_assert(Config::kThreads == Config::kWarps * kWarpSize);
  static_assert(kRows % 16 == 0 && kRows * Config::kWarps == Config::kTileM,
                "a warp owns whole 16-row mma tiles");
  static_assert(Config::kTileN % 16 == 0, "a step of P V takes 16 keys");

  using Scores = Accumulator<kRowTiles, kKeyTiles>;
  using Probabilities = OperandA<kRowTiles, kKeyTiles / 2>;
  using Query = OperandA<kRowTiles, kDepthTiles / 2>;
  using Output = Accumulator<kRowTiles, kDepthTiles>;

  Query query;  ///< loaded if kQueryInRegisters
  Output output;
  OnlineSoftmax<kRowTiles, Config::kLazyRescale> softmax;

  /// The warp's first row within the block's tile.
  static int first_row() { return warp() * kRows; }

  void clear() {
    output.clear();
    softmax.clear();
  }
};

template <class Config, class Tile>
inline void load_query(WarpTile<Config>& warp_tile, const Tile& query_tile) {
#pragma unroll
  for (int step = 0; step < WarpTile<Config>::kDepthTiles / 2; ++step) {
#pragma unroll
    for (int r = 0; r < WarpTile<Config>::kRowTiles; ++r) {
      load_operand_a(warp_tile.query.value[r][step], query_tile, WarpTile<Config>::first_row(),
                     16 * r, 16 * step);
    }
  }
}

/// scores = Q K^T
template <class Config, class QueryTile, class KeyTile>
inline void multiply_query_key(typename WarpTile<Config>::Scores& scores,
                               const WarpTile<Config>& warp_tile, const QueryTile& query_tile,
                               const KeyTile& key_tile) {
  using Warp = WarpTile<Config>;
  using Element = typename Config::Element;
  constexpr int kDepth = Config::kHeadDimPadded;
  // Registers have no index that varies.
  constexpr int kUnroll = Config::kQueryInRegisters ? score_chains(kDepth) : 1;
  multiply_scores<Element, kDepth, kUnroll>(
      scores, key_tile, [&](unsigned(&query)[Warp::kRowTiles][4], int first, int depth) {
        const auto chain_query = view_from(query_tile, 0, first);
#pragma unroll
        for (int r = 0; r < Warp::kRowTiles; ++r) {
          if constexpr (Config::kQueryInRegisters) {
            const auto& operand = warp_tile.query.value[r][(first + depth) / 16];
#pragma unroll
            for (int i = 0; i < 4; ++i) query[r][i] = operand[i];
          } else {
            load_operand_a(query[r], chain_query, Warp::first_row(), 16 * r, depth);
          }
        }
      });
}

/// output += P V
template <class Config, class ValueTile>
inline void multiply_probability_value(typename WarpTile<Config>::Output& output,
                                       const typename WarpTile<Config>::Scores& scores,
                                       const ValueTile& value_tile) {
  using Warp = WarpTile<Config>;
  const auto probabilities = to_operand_a<typename Config::Element>(scores);
#pragma unroll
  for (int step = 0; step < Warp::kKeyTiles / 2; ++step) {
    unsigned probability[Warp::kRowTiles][4];
#pragma unroll
    for (int r = 0; r < Warp::kRowTiles; ++r) {
#pragma unroll
      for (int i = 0; i < 4; ++i) probability[r][i] = probabilities.value[r][step][i];
    }
#pragma unroll
    for (int column = 0; column < Config::kHeadDimPadded; column += 16) {
      unsigned pair[2][2];
      load_operand_b(pair, value_tile, 16 * step, column);
      multiply_pair<typename Config::Element>(output, probability, pair, column / 8);
    }
  }
}

/// Walks the block's keys; leaves the unnormalised output and the softmax state. Returns whether
/// the walk has to be repeated with `sanitize` on.
template <class Config>
inline bool attend(WarpTile<Config>& warp_tile, SharedStorage<Config>& shared,
                   const Work<Config>& work, const AttentionParameters& parameters, bool sanitize) {
  const BlockRange range = work.range;
  const Mask<Config> mask{work.sequence, work.item};
  const int first_query = work.first_query + WarpTile<Config>::first_row();
  // No row of the warp sees a key from here on.
  const int seen_keys = work.sequence.causal_keys(first_query + WarpTile<Config>::kRows - 1);

  KeyValueLoader<Config> loader(shared.key_value, parameters);
  loader.start(work.item, work.sequence, range);
  if constexpr (Config::kQueryInRegisters) {
    copy_async_wait<KeyValueLoader<Config>::kGroupsAhead>();
    sync_block();
    load_query(warp_tile, shared.query);
  }
  const int first_sanitized = sanitize ? range.first_masked : range.end;
#pragma unroll 1
  for (int block = range.begin; block < range.end; ++block) {
    const int first_key = block * Config::kTileN;
    const bool masked = block >= range.first_masked;
    const bool sees_any = !Config::kCausal || first_key < seen_keys;

    typename WarpTile<Config>::Scores scores;
    const auto& key_tile = loader.wait_key();
    if (sees_any) {
      warp_tile.softmax.settle_if_due(block - range.begin, range.end - block);
      multiply_query_key(scores, warp_tile, shared.query, key_tile);
      mask.apply_score_hook(scores, parameters.scale, first_query, first_key);
      if (masked) mask.apply(scores, first_query, first_key);
    }
    auto& value_tile = loader.wait_value();
    if (sees_any) warp_tile.softmax.follow(scores, warp_tile.output, parameters.scale_log2);
    if (block >= first_sanitized) {
      clear_nonfinite<Config>(value_tile);
    }
    // No branch from here to the end of the product: the exponentials of later keys then run in
    // the shadow of the mma of earlier ones.
    if (sees_any) {
      warp_tile.softmax.exponentiate(scores, parameters.scale_log2);
      multiply_probability_value<Config>(warp_tile.output, scores, value_tile);
    }
  }
  if (sanitize || range.first_masked >= range.end) return false;
  return sync_block_any(!warp_tile.output.is_finite());
}

/// Normalises the warp's rows and stores them and their log-sum-exp.
template <class Config>
inline void finish(WarpTile<Config>& warp_tile, SharedStorage<Config>& shared,
                   const AttentionParameters& parameters) {
  const Work<Config> work(parameters);
  const WorkItem& item = work.item;
  const int first_query = work.first_query + WarpTile<Config>::first_row();
  using Warp = WarpTile<Config>;
  const int valid_rows = work.sequence.query_length - first_query;
  auto& softmax = warp_tile.softmax;
  softmax.finish();
#pragma unroll
  for (int row = 0; row < 2 * Warp::kRowTiles; ++row) {
    const float inverse_sum = softmax.inverse_sum(row);
    warp_tile.output.for_row(row, [&](float& entry) { entry *= inverse_sum; });
  }

  if constexpr (Config::kSplitKv) {
    const long long row = partial_row(parameters, item.split, item.batch, item.head, first_query);
    store_partial_output<Config>(warp_tile.output,
                                 parameters.partial_output + row * Config::kHeadDim, valid_rows);
    PartialRow weights[2 * Warp::kRowTiles];
#pragma unroll
    for (int r = 0; r < 2 * Warp::kRowTiles; ++r) {
      weights[r] = {softmax.reference[r], 0.0f, softmax.sum[r]};
    }
    store_rows(weights, parameters.partial_rows + row, valid_rows);
  } else {
    auto* destination =
        tensor_row<typename Config::Element>(parameters.output, item.batch, item.head, first_query);
    store_output<Config>(warp_tile.output, shared.query, WarpTile<Config>::first_row(), destination,
                         parameters.output.row_stride, valid_rows);
    if (parameters.log_sum_exp == nullptr) return;
    float log_sum_exps[2 * Warp::kRowTiles];
#pragma unroll
    for (int r = 0; r < 2 * Warp::kRowTiles; ++r) {
      log_sum_exps[r] =
          log_sum_exp<Config>(parameters, {softmax.reference[r], 0.0f}, softmax.sum[r]);
    }
    store_rows(log_sum_exps,
               parameters.log_sum_exp + flat_row(parameters, item.batch, item.head, first_query),
               valid_rows);
  }
}

/// part/exact_rows.cuh's, for the warp's stored rows.
template <class Config>
inline void redo_large_rows(const WarpTile<Config>& warp_tile,
                            const AttentionParameters& parameters) {
  for_each_large_row(warp_tile.softmax.reference, [&](int row) {
    const Work<Config> work(parameters);
    const int query = work.first_query + WarpTile<Config>::first_row() + row;
    if (query >= work.sequence.query_length) return;
    const Mask<Config> mask{work.sequence, work.item};
    const ExactRow<Config> exact(parameters, mask, work.range, query);
    exact.store();
    exact.store_weight();
  });
}

/// part/sanitize.cuh's, for the stored tile.
template <class Config>
inline void add_nonfinite(const AttentionParameters& parameters) {
  const Work<Config> work(parameters);
  const WorkItem& item = work.item;
  const Mask<Config> mask{work.sequence, item};
  if constexpr (Config::kSplitKv) {
    const long long row =
        partial_row(parameters, item.split, item.batch, item.head, work.first_query);
    add_nonfinite(parameters.partial_output + row * Config::kHeadDim, Config::kHeadDim, work.range,
                  mask, parameters);
  } else {
    add_nonfinite(tensor_row<typename Config::Element>(parameters.output, item.batch, item.head,
                                                       work.first_query),
                  parameters.output.row_stride, work.range, mask, parameters);
  }
}

/// Starts to load the block's queries; clears what no load touches.
template <class Config>
inline void prepare(SharedStorage<Config>& shared, const Work<Config>& work,
                    const AttentionParameters& parameters) {
  using Element = typename Config::Element;
  using QueryCopy = TileCopy<Config, Config::kTileM>;
  QueryCopy::clear_padding(shared.query);
  KeyValueLoader<Config>::clear_padding(shared.key_value);
  QueryCopy::load(
      shared.query,
      tensor_row<Element>(parameters.query, work.item.batch, work.item.head, work.first_query),
      parameters.query.row_stride, work.sequence.query_length - work.first_query);
  copy_async_commit();
}

template <class Config>
inline void attention(const AttentionParameters& parameters) {
  static_assert(Config::kSharedBytes == sizeof(SharedStorage<Config>),
                "the host's shared-memory size is not the kernel's");
  auto& shared = *reinterpret_cast<SharedStorage<Config>*>(shared_memory());
  WarpTile<Config> warp_tile;
  bool sanitize = false;
#pragma unroll 1
  while (true) {
    const Work<Config> work(parameters);
    warp_tile.clear();
    if (work.range.begin >= work.range.end) break;
    prepare(shared, work, parameters);
    if (!attend(warp_tile, shared, work, parameters, sanitize)) break;
    sanitize = true;
  }
  finish(warp_tile, shared, parameters);
  redo_large_rows(warp_tile, parameters);
  if (sanitize) add_nonfinite<Config>(parameters);
}

}  // namespace heddle::fa2
