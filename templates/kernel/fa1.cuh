#pragma once
// FlashAttention-1 (sm_80+): one block per (batch, head), which alone walks all tiles of the head;
// the N x N matrix exists only as a tile of scores in registers.
//
// Loop order: query tiles outside, key tiles inside, so that O never leaves the registers before it
// is finished. (The paper's order, keys outside, moves O to HBM and back for each key tile.) K and
// V are read once per query tile. Every second query tile walks them backwards: it begins with what
// the tile before has just left in L2.
//
// As in version 1 the warps split the keys of a tile and exchange row maxima, row sums and partial
// outputs at every step, and O is rescaled at every step. It is kept unnormalised: dividing by the
// row sum each time, as the paper does, costs a multiplication per element and step and rounds
// more.

#include "instruction/opaque.cuh"
#include "part/block_range.cuh"
#include "part/exact_rows.cuh"
#include "part/key_split.cuh"
#include "part/key_value_walk.cuh"
#include "part/log_sum_exp.cuh"
#include "part/mask.cuh"
#include "part/sanitize.cuh"
#include "part/scheduler.cuh"
#include "part/sequence_info.cuh"
#include "part/shared_tile.cuh"
#include "part/split_softmax.cuh"
#include "part/tile_view.cuh"

namespace heddle::fa1 {

template <class Config>
struct SharedStorage {
  SharedTile<typename Config::Element, Config::kTileM, Config::kHeadDimPadded> query;
  typename KeyValueWalk<Config>::Storage key_value;
  float reference[Config::kTileM];  ///< what a row's exponents are relative to (log2 units)
  float sum[Config::kTileM];
  TeamExchange<Config> team[KeySplit<Config>::kTeams];
};

/// A query tile of the block's head, and this warp's place in it.
template <class Config>
struct QueryTile {
  using Split = KeySplit<Config>;

  const SequenceInfo& sequence;
  int first_query;
  BlockRange range;
  int team_row = Split::team() * Split::kTeamRows;
  int warp_key = Split::key_warp() * Split::kWarpKeys;

  QueryTile(const SequenceInfo& of, int index)
      : sequence(of),
        first_query(index * Config::kTileM),
        range(BlockRange::of_tile<Config>(of, first_query)) {}

  int step_query(int step) const { return first_query + team_row + step * Split::kStepRows; }

  /// False where the rows of a step lie past the end or see no key of the block.
  bool sees(int step, int first_key) const {
    const int last = minimum(step_query(step) + Split::kStepRows, sequence.query_length) - 1;
    if (last < step_query(step)) return false;
    return !Config::kCausal || first_key < sequence.causal_keys(last);
  }
};

/// scores = Q K^T of one step and of this warp's keys.
template <class Config, class KeyTile>
inline void multiply_query_key(typename KeySplit<Config>::Scores& scores,
                               const SharedStorage<Config>& shared, const QueryTile<Config>& tile,
                               const KeyTile& keys, int step) {
  using Split = KeySplit<Config>;
  multiply_scores<typename Config::Element, Config::kHeadDimPadded, 1>(
      scores, view_from(keys, tile.warp_key, 0),
      [&](unsigned(&rows)[Split::kRowTiles][4], int first, int depth) {
        const auto chain_query = view_from(shared.query, 0, first);
#pragma unroll
        for (int r = 0; r < Split::kRowTiles; ++r) {
          load_operand_a(rows[r], chain_query, tile.team_row, step * Split::kStepRows + 16 * r,
                         depth);
        }
      });
}

/// One round's columns of P V over this warp's keys.
template <class Config, class ValueTile>
inline void multiply_probability_value(typename KeySplit<Config>::Partial& partial,
                                       const typename KeySplit<Config>::Probabilities& p,
                                       const ValueTile& warp_values, int round) {
  using Split = KeySplit<Config>;
  partial.clear();
#pragma unroll
  for (int key = 0; key < Split::kWarpKeys; key += 16) {
    unsigned rows[Split::kRowTiles][4];
#pragma unroll
    for (int r = 0; r < Split::kRowTiles; ++r) {
#pragma unroll
      for (int i = 0; i < 4; ++i) rows[r][i] = p.value[r][key / 16][i];
    }
#pragma unroll
    for (int c = 0; c < Split::kKeyWarps; c += 2) {
      const int column = 8 * (round * Split::kKeyWarps + c);
      if (column >= Config::kHeadDimPadded) continue;
      unsigned pair[2][2];
      load_operand_b(pair, warp_values, key, column);
      multiply_pair<typename Config::Element>(partial, rows, pair, c);
    }
  }
}

/// Scores to probabilities to output for the rows of one step.
template <class Config, class ValueTile>
inline void attend_step(typename KeySplit<Config>::Output& output,
                        typename KeySplit<Config>::Scores& scores, SharedStorage<Config>& shared,
                        const QueryTile<Config>& tile, const ValueTile& values, float scale_log2,
                        int step) {
  using Split = KeySplit<Config>;
  const int first_row = tile.team_row + step * Split::kStepRows;
  auto& exchange = shared.team[Split::team()];
  const StepRows<Config> rows =
      softmax_step<Config>(scores, exchange, shared.reference + first_row, scale_log2);
  const auto probabilities = to_operand_a<typename Config::Element>(scores);
  const auto warp_values = view_from(values, tile.warp_key, 0);
#pragma unroll
  for (int round = 0; round < Split::kRounds; ++round) {
    typename Split::Partial partial;
    multiply_probability_value<Config>(partial, probabilities, warp_values, round);
    float owned[Split::kRowTiles][4];
#pragma unroll
    for (int i = 0; i < 4 * Split::kRowTiles; ++i) {
      owned[i / 4][i % 4] =
          output.value[Split::kRowTiles * step + i / 4][round][i % 4] * rows.factor[i / 2];
    }
    exchange_partial<Config>(exchange, partial, round, owned);
#pragma unroll
    for (int i = 0; i < 4 * Split::kRowTiles; ++i) {
      output.value[Split::kRowTiles * step + i / 4][round][i % 4] = owned[i / 4][i % 4];
    }
    if (round == 0) {
      update_statistics(exchange, shared.reference + first_row, shared.sum + first_row);
    }
  }
  if (Split::kRounds == 1) Split::sync();  // maxima and sums have been read
}

/// Walks the key blocks of one query tile; leaves the unnormalised output and the rows' statistics.
template <class Config>
inline void attend(typename KeySplit<Config>::Output& output, SharedStorage<Config>& shared,
                   KeyValueWalk<Config>& walk, const QueryTile<Config>& tile,
                   const Mask<Config>& mask, const AttentionParameters& parameters, bool sanitize) {
  using Split = KeySplit<Config>;
  output.clear();
  for (int row = thread_index(); row < Config::kTileM; row += Config::kThreads) {
    shared.reference[row] = -infinity();
    shared.sum[row] = 0.0f;
  }
#pragma unroll 1
  for (int i = 0; i < walk.count(); ++i) {
    const int first_key = walk.block(i) * Config::kTileN;
    const bool masked = walk.block(i) >= tile.range.first_masked;
    const auto& keys = walk.wait_key(i);
    typename KeyValueWalk<Config>::Tile* values = nullptr;
#pragma unroll
    for (int step = 0; step < Split::kSteps; ++step) {
      const bool sees = tile.sees(step, first_key);
      typename Split::Scores scores;
      scores.clear();  // also where nobody reads them: else they occupy registers all along
      if (sees) {
        const int query = tile.step_query(step);
        multiply_query_key<Config>(scores, shared, tile, keys, step);
        mask.apply_score_hook(scores, parameters.scale, query, first_key + tile.warp_key);
        if (masked) mask.apply(scores, query, first_key + tile.warp_key);
      }
      if (step == 0) {
        values = &walk.wait_value();
        if (masked && sanitize) clear_nonfinite<Config>(*values);
      }
      if (step == Split::kSteps - 1) walk.release_key(i);
      if (sees) {
        attend_step<Config>(output, scores, shared, tile, *values, parameters.scale_log2, step);
      }
    }
  }
}

/// Normalises the tile, gathers it where Q lay and stores it and its rows' log-sum-exp.
template <class Config>
inline void finish(const typename KeySplit<Config>::Output& output, SharedStorage<Config>& shared,
                   const QueryTile<Config>& tile, const Mask<Config>& mask,
                   const AttentionParameters& parameters, bool sanitized) {
  using Element = typename Config::Element;
  using Split = KeySplit<Config>;
  const WorkItem& item = mask.item;
  using Copy = TileCopy<Config, Config::kTileM>;
  copy_async_wait<0>();  // a tile without keys has not waited for its Q, which lands where O goes
  sync_block();          // statistics are complete, Q is no longer read
#pragma unroll
  for (int row = 0; row < Split::Output::kThreadRows; ++row) {
    const int tile_row = tile.team_row + fragment_row(row);
    const float sum = shared.sum[tile_row];
    const float inverse_sum = sum == 0.0f ? 0.0f : 1.0f / sum;
#pragma unroll
    for (int round = 0; round < Split::kRounds; ++round) {
      const int column = Split::owned_column(round) + 2 * (lane() % 4);
      if (column >= Config::kHeadDimPadded) continue;
      const float* pair = &output.value[row / 2][round][2 * (row % 2)];
      store<4>(shared.query.at(tile_row, column),
               Bytes<4>{pack(pair[0] * inverse_sum, pair[1] * inverse_sum, Element{})});
    }
  }
  sync_block();
  const int valid_rows = tile.sequence.query_length - tile.first_query;
  Element* destination =
      tensor_row<Element>(parameters.output, item.batch, item.head, tile.first_query);
  Copy::for_each_piece(thread_index(), [&](const TilePiece& piece) {
    if (piece.row_offset >= valid_rows - piece.thread_row) return;
    store<Copy::kBytes>(destination + piece.row() * parameters.output.row_stride + piece.column(),
                        load<Copy::kBytes>(shared.query.at(piece.row(), piece.column())));
  });
  if (sanitized) {
    add_nonfinite(destination, parameters.output.row_stride, tile.range, mask, parameters);
  }
  if (parameters.log_sum_exp == nullptr) return;
  float* log_sum_exps =
      parameters.log_sum_exp + flat_row(parameters, item.batch, item.head, tile.first_query);
  const int rows = minimum(valid_rows, Config::kTileM);
  for (int row = thread_index(); row < rows; row += Config::kThreads) {
    const ExponentBase base{shared.reference[row], 0.0f};
    log_sum_exps[row] = log_sum_exp<Config>(parameters, base, shared.sum[row]);
  }
}

/// part/exact_rows.cuh's, for the stored tile.
template <class Config>
inline void redo_large_rows(const SharedStorage<Config>& shared, const QueryTile<Config>& tile,
                            const Mask<Config>& mask, const AttentionParameters& parameters) {
  const int rows = minimum(tile.sequence.query_length - tile.first_query, Config::kTileM);
  sync_block();
#pragma unroll 1
  for (int row = warp(); row < rows; row += Config::kWarps) {
    if (!is_large_base(shared.reference[row])) continue;
    const ExactRow<Config> exact(parameters, mask, tile.range, tile.first_query + row);
    exact.store();
    exact.store_weight();
  }
}

template <class Config>
inline void attention(const AttentionParameters& parameters) {
  using Element = typename Config::Element;
  static_assert(Config::kThreads == Config::kWarps * kWarpSize);
  static_assert(Config::kSharedBytes == sizeof(SharedStorage<Config>),
                "the host's shared-memory size is not the kernel's");
  auto& shared = *reinterpret_cast<SharedStorage<Config>*>(shared_memory());

  WorkItem item = {};
  item.head = block_index() % parameters.heads;
  item.batch = block_index() / parameters.heads;
  item.kv_head = item.head / (parameters.heads / parameters.kv_heads);
  const SequenceInfo sequence(parameters, item.batch);
  const Mask<Config> mask{sequence, item};
  KeyValueWalk<Config> walk(shared.key_value, parameters, item, sequence);
  walk.clear_padding();

#pragma unroll 1
  for (int index = 0; index < parameters.query_tiles; ++index) {
    item.query_tile = index;
    const QueryTile<Config> tile(sequence, index);
    using QueryCopy = TileCopy<Config, Config::kTileM>;
    sync_block();  // the tile before is stored
    QueryCopy::clear_padding(shared.query);
    QueryCopy::load(shared.query,
                    tensor_row<Element>(parameters.query, item.batch, item.head, tile.first_query),
                    opaque(parameters.query.row_stride), sequence.query_length - tile.first_query);

    typename KeySplit<Config>::Output output;
    bool sanitize = false;
#pragma unroll 1
    while (true) {
      walk.start(tile.range, index % 2 != 0);
      attend(output, shared, walk, tile, mask, parameters, sanitize);
      if (sanitize || tile.range.first_masked >= tile.range.end) break;
      if (!sync_block_any(!output.is_finite())) break;
      sanitize = true;
    }
    finish(output, shared, tile, mask, parameters, sanitize);
    redo_large_rows(shared, tile, mask, parameters);
  }
}

}  // namespace heddle::fa1
