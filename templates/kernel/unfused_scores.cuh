#pragma once
// Unfused attention, first of three kernels: S = Q K^T through HBM, in fp32 and without the scale.
// A block keeps kTileM query rows of one head in shared memory and streams the head's keys past
// them. Tiles above the causal diagonal are neither computed nor written: nobody reads them.

#include "instruction/memory.cuh"
#include "part/block_range.cuh"
#include "part/fragment.cuh"
#include "part/load_ahead.cuh"
#include "part/scheduler.cuh"
#include "part/sequence_info.cuh"
#include "part/shared_tile.cuh"
#include "part/tile_view.cuh"
#include "part/warp_grid.cuh"

namespace heddle::unfused {

template <class Config>
struct ScoreStorage {
  SharedTile<typename Config::Element, Config::kTileM, Config::kHeadDimPadded> query;
  SharedTile<typename Config::Element, Config::kTileN, Config::kHeadDimPadded> key[Config::kStages];
};

template <class Config>
using ScoreGrid = WarpGrid<Config::kTileM, Config::kTileN, Config::kWarps>;

template <class Config>
using Scores = Accumulator<ScoreGrid<Config>::kRows / 16, ScoreGrid<Config>::kColumns / 8>;

/// This warp's part of Q K^T.
template <class Config, class QueryTile, class KeyTile>
inline void multiply_query_key(Scores<Config>& scores, const QueryTile& query, const KeyTile& key) {
  using Grid = ScoreGrid<Config>;
  multiply_scores<typename Config::Element, Config::kHeadDimPadded, 1>(
      scores, view_from(key, Grid::first_column(), 0),
      [&](unsigned(&rows)[Grid::kRows / 16][4], int first, int depth) {
        const auto chain_query = view_from(query, 0, first);
#pragma unroll
        for (int r = 0; r < Grid::kRows / 16; ++r) {
          load_operand_a(rows[r], chain_query, Grid::first_row(), 16 * r, depth);
        }
      });
}

/// A thread's pairs of neighbouring columns in two column tiles become four neighbours in one of
/// them: even lanes keep the left tile, odd lanes the right one. Bit masks choose, without
/// branches.
inline Bytes<16> gather_four(const float* left, const float* right) {
  const unsigned odd = 0u - static_cast<unsigned>(lane() % 2);  // all ones in odd lanes
  unsigned kept[2];
  unsigned got[2];
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const unsigned l = __float_as_uint(left[i]);
    const unsigned r = __float_as_uint(right[i]);
    kept[i] = l ^ ((l ^ r) & odd);
    got[i] = shuffle_xor(r ^ ((l ^ r) & odd), 1);
  }
  Bytes<16> four;
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const unsigned difference = (kept[i] ^ got[i]) & odd;
    four.value[i] = kept[i] ^ difference;
    four.value[2 + i] = got[i] ^ difference;
  }
  return four;
}

/// Stores rows [0, valid_rows) and columns [0, valid_columns) of this warp's tile, 16 bytes at a
/// time: up to three more columns are written, inside the row's pitch.
template <class Tile>
inline void store_scores(const Tile& scores, float* destination, long long pitch, int valid_rows,
                         int valid_columns) {
  const int lane_column = 8 * (lane() % 2) + 4 * (lane() % 4 / 2);
#pragma unroll
  for (int row = 0; row < Tile::kThreadRows; ++row) {
    float* to = destination + fragment_row(row) * pitch;
#pragma unroll
    for (int c = 0; c < Tile::kColumnTiles; c += 2) {
      const Bytes<16> four = gather_four(&scores.value[row / 2][c][2 * (row % 2)],
                                         &scores.value[row / 2][c + 1][2 * (row % 2)]);
      const int column = 8 * c + lane_column;
      if (fragment_row(row) < valid_rows && column < valid_columns) store_global(to + column, four);
    }
  }
}

template <class Config>
inline void scores(const AttentionParameters& parameters) {
  using Element = typename Config::Element;
  using Grid = ScoreGrid<Config>;
  static_assert(Config::kThreads == Config::kWarps * kWarpSize);
  static_assert(Config::kSharedBytes == sizeof(ScoreStorage<Config>),
                "the host's shared-memory size is not the kernel's");
  auto& shared = *reinterpret_cast<ScoreStorage<Config>*>(shared_memory());

  const WorkItem item = Scheduler<Config>::item(parameters);
  const SequenceInfo sequence(parameters, item.batch);
  const int first_query = item.query_tile * Config::kTileM;
  const BlockRange range = BlockRange::of_tile<Config>(sequence, first_query);

  using QueryCopy = TileCopy<Config, Config::kTileM>;
  using KeyCopy = TileCopy<Config, Config::kTileN>;
  QueryCopy::clear_padding(shared.query);
  for (auto& tile : shared.key) KeyCopy::clear_padding(tile);
  QueryCopy::load(shared.query,
                  tensor_row<Element>(parameters.query, item.batch, item.head, first_query),
                  parameters.query.row_stride, sequence.query_length - first_query);

  const int warp_query = first_query + Grid::first_row();
  float* destination = parameters.scores + parameters.score_pitch * flat_row(parameters, item.batch,
                                                                             item.head, warp_query);
  load_ahead<Config::kStages>(
      range.begin, range.end,
      [&](int block, int stage) {
        const int first_key = block * Config::kTileN;
        KeyCopy::load(shared.key[stage],
                      tensor_row<Element>(parameters.key, item.batch, item.kv_head, first_key),
                      parameters.key.row_stride, sequence.key_length - first_key);
      },
      [&](int block, int stage) {
        Scores<Config> tile;
        multiply_query_key<Config>(tile, shared.query, shared.key[stage]);
        const int warp_key = block * Config::kTileN + Grid::first_column();
        store_scores(tile, destination + warp_key, parameters.score_pitch,
                     sequence.query_length - warp_query, sequence.key_length - warp_key);
      });
}

}  // namespace heddle::unfused
