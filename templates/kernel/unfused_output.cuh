#pragma once
// Unfused attention, last of three kernels: O = P V. A block owns kTileM query rows of one head and
// streams P, which it reads once, and V. Of a row of P exactly the keys that the row may see are
// read; zeros stand for the others.

#include "instruction/memory.cuh"
#include "part/block_range.cuh"
#include "part/fragment.cuh"
#include "part/load_ahead.cuh"
#include "part/mask.cuh"
#include "part/sanitize.cuh"
#include "part/scheduler.cuh"
#include "part/sequence_info.cuh"
#include "part/shared_tile.cuh"
#include "part/tile_view.cuh"
#include "part/warp_grid.cuh"

namespace heddle::unfused {

template <class Config>
struct OutputStorage {
  using Element = typename Config::Element;
  struct Stage {
    SharedTile<Element, Config::kTileM, Config::kTileN> probability;
    SharedTile<Element, Config::kTileN, Config::kHeadDimPadded> value;
  };
  union {
    Stage stage[Config::kStages];
    /// The finished tile on its way out.
    SharedTile<Element, Config::kTileM, Config::kHeadDimPadded> output;
  };
};

template <class Config>
using OutputGrid = WarpGrid<Config::kTileM, Config::kHeadDimPadded, Config::kWarps>;

template <class Config>
using Output = Accumulator<OutputGrid<Config>::kRows / 16, OutputGrid<Config>::kColumns / 8>;

/// Starts to copy P of rows [first_query, + kTileM) and keys [first_key, + kTileN).
template <class Config, class Tile>
inline void load_probabilities(Tile& tile, const AttentionParameters& parameters,
                               const Mask<Config>& mask, int first_query, int first_key) {
  using Element = typename Config::Element;
  constexpr int kPiece = 16 / sizeof(Element);
  constexpr int kRowPieces = Config::kTileN / kPiece;
  const SequenceInfo& sequence = mask.sequence;
  const long long first_row = flat_row(parameters, mask.item.batch, mask.item.head, first_query);
#pragma unroll
  for (int i = thread_index(); i < Config::kTileM * kRowPieces; i += Config::kThreads) {
    const int row = i / kRowPieces;
    const int column = i % kRowPieces * kPiece;
    const int query = first_query + row;
    const int seen = Config::kCausal ? sequence.causal_keys(query) : sequence.key_length;
    const int left = query < sequence.query_length ? seen - first_key - column : 0;
    const float* scores = parameters.scores + (first_row + row) * parameters.score_pitch;
    copy_async_part(tile.at(row, column),
                    reinterpret_cast<const Element*>(scores) + first_key + column,
                    maximum(0, minimum(left, kPiece)) * static_cast<int>(sizeof(Element)));
  }
}

/// output += P V, this warp's part.
template <class Config, class Stage>
inline void multiply_probability_value(Output<Config>& output, const Stage& stage) {
  using Grid = OutputGrid<Config>;
  const auto warp_values = view_from(stage.value, 0, Grid::first_column());
#pragma unroll
  for (int key = 0; key < Config::kTileN; key += 16) {
    unsigned rows[Grid::kRows / 16][4];
#pragma unroll
    for (int r = 0; r < Grid::kRows / 16; ++r) {
      load_operand_a(rows[r], stage.probability, Grid::first_row(), 16 * r, key);
    }
#pragma unroll
    for (int column = 0; column < Grid::kColumns; column += 16) {
      unsigned pair[2][2];
      load_operand_b(pair, warp_values, key, column);
      multiply_pair<typename Config::Element>(output, rows, pair, column / 8);
    }
  }
}

/// Walks the key blocks of `range`.
template <class Config>
inline void accumulate_output(Output<Config>& output, OutputStorage<Config>& shared,
                              const AttentionParameters& parameters, const Mask<Config>& mask,
                              bool sanitize) {
  using Element = typename Config::Element;
  using Grid = OutputGrid<Config>;
  const WorkItem& item = mask.item;
  const int first_query = item.query_tile * Config::kTileM;
  const BlockRange range = BlockRange::of_tile<Config>(mask.sequence, first_query);
  output.clear();
  load_ahead<Config::kStages>(
      range.begin, range.end,
      [&](int block, int stage) {
        const int first_key = block * Config::kTileN;
        load_probabilities(shared.stage[stage].probability, parameters, mask, first_query,
                           first_key);
        TileCopy<Config, Config::kTileN>::load(
            shared.stage[stage].value,
            tensor_row<Element>(parameters.value, item.batch, item.kv_head, first_key),
            parameters.value.row_stride, mask.sequence.key_length - first_key);
      },
      [&](int block, int stage) {
        auto& values = shared.stage[stage].value;
        if (sanitize && block >= range.first_masked) {
          clear_nonfinite<Config>(values);
        }
        multiply_probability_value<Config>(output, shared.stage[stage]);
      });
}

/// Rounds this warp's part to Element and gathers the block's tile for stores of whole pieces.
template <class Config>
inline void store_tile(Output<Config>& output, OutputStorage<Config>& shared,
                       typename Config::Element* destination, long long row_stride,
                       int valid_rows) {
  using Element = typename Config::Element;
  using Grid = OutputGrid<Config>;
  using Copy = TileCopy<Config, Config::kTileM>;
  const int lane_column = Grid::first_column() + 2 * (lane() % 4);
  sync_block();  // the stages are no longer read
#pragma unroll
  for (int row = 0; row < Output<Config>::kThreadRows; ++row) {
#pragma unroll
    for (int c = 0; c < Output<Config>::kColumnTiles; ++c) {
      const float* pair = &output.value[row / 2][c][2 * (row % 2)];
      store<4>(shared.output.at(Grid::first_row() + fragment_row(row), 8 * c + lane_column),
               Bytes<4>{pack(pair[0], pair[1], Element{})});
    }
  }
  sync_block();
  Copy::for_each_piece(thread_index(), [&](const TilePiece& piece) {
    if (piece.row() >= valid_rows) return;
    store<Copy::kBytes>(destination + piece.row() * row_stride + piece.column(),
                        load<Copy::kBytes>(shared.output.at(piece.row(), piece.column())));
  });
}

template <class Config>
inline void output(const AttentionParameters& parameters) {
  using Element = typename Config::Element;
  static_assert(Config::kThreads == Config::kWarps * kWarpSize);
  static_assert(Config::kSharedBytes == sizeof(OutputStorage<Config>),
                "the host's shared-memory size is not the kernel's");
  auto& shared = *reinterpret_cast<OutputStorage<Config>*>(shared_memory());

  const WorkItem item = Scheduler<Config>::item(parameters);
  const SequenceInfo sequence(parameters, item.batch);
  const Mask<Config> mask{sequence, item};
  const int first_query = item.query_tile * Config::kTileM;
  for (auto& stage : shared.stage) {
    TileCopy<Config, Config::kTileN>::clear_padding(stage.value);
  }

  Output<Config> output;
  accumulate_output<Config>(output, shared, parameters, mask, false);
  const BlockRange range = BlockRange::of_tile<Config>(sequence, first_query);
  const bool has_masked = range.first_masked < range.end;
  const bool sanitize = has_masked && sync_block_any(!output.is_finite());
  if (sanitize) accumulate_output<Config>(output, shared, parameters, mask, true);
  Element* destination = tensor_row<Element>(parameters.output, item.batch, item.head, first_query);
  const long long row_stride = parameters.output.row_stride;
  store_tile<Config>(output, shared, destination, row_stride, sequence.query_length - first_query);
  if (sanitize) add_nonfinite(destination, row_stride, range, mask, parameters);
}

}  // namespace heddle::unfused
