#pragma once
// Register tiles of mma.m16n8k16 and the two products of attention on them.
// Lane l of a 16x8 accumulator holds rows l / 4 and l / 4 + 8, columns 2 * (l % 4) and the next.

#include "instruction/ldmatrix.cuh"
#include "instruction/math.cuh"
#include "instruction/thread.cuh"
#include "part/shared_tile.cuh"
#include "part/tile_view.cuh"

namespace heddle {

/// Neighbours that hold entries of the same rows.
constexpr int kRowLanes = 4;

/// fp32 accumulators of (kRowTiles * 16) x (kColumnTiles * 8) entries of one warp.
/// value[r][c][2 * half + e] is row 16 r + 8 half + lane / 4, column 8 c + 2 * (lane % 4) + e.
template <int kRowTileCount, int kColumnTileCount>
struct Accumulator {
  static constexpr int kRowTiles = kRowTileCount;
  static constexpr int kColumnTiles = kColumnTileCount;
  static constexpr int kThreadRows = 2 * kRowTiles;  ///< rows of which a thread holds entries

  float value[kRowTiles][kColumnTiles][4];

  void clear() {
#pragma unroll
    for (int r = 0; r < kRowTiles; ++r) {
#pragma unroll
      for (int c = 0; c < kColumnTiles; ++c) {
#pragma unroll
        for (int i = 0; i < 4; ++i) value[r][c][i] = 0.0f;
      }
    }
  }

  void add(const Accumulator& other) {
#pragma unroll
    for (int r = 0; r < kRowTiles; ++r) {
#pragma unroll
      for (int c = 0; c < kColumnTiles; ++c) {
#pragma unroll
        for (int i = 0; i < 4; ++i) value[r][c][i] += other.value[r][c][i];
      }
    }
  }

  /// Calls visit(thread_row, row, column, entry) for each entry of this thread; row and column
  /// count from the warp's tile, thread_row from 0 to kThreadRows.
  template <class Visit>
  void for_each(Visit visit) {
    const int lane_row = lane() / 4;
    const int lane_column = 2 * (lane() % 4);
#pragma unroll
    for (int r = 0; r < kRowTiles; ++r) {
#pragma unroll
      for (int c = 0; c < kColumnTiles; ++c) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          visit(2 * r + i / 2, 16 * r + 8 * (i / 2) + lane_row, 8 * c + i % 2 + lane_column,
                value[r][c][i]);
        }
      }
    }
  }

  /// Calls visit(entry) for each entry of this thread in one of its rows.
  template <class Visit>
  void for_row(int thread_row, Visit visit) {
#pragma unroll
    for (int c = 0; c < kColumnTiles; ++c) {
      visit(value[thread_row / 2][c][2 * (thread_row % 2)]);
      visit(value[thread_row / 2][c][2 * (thread_row % 2) + 1]);
    }
  }

  bool is_finite() const {
    float witness = 0.0f;  // 0 * x stays 0 exactly as long as x is finite
#pragma unroll
    for (int r = 0; r < kRowTiles; ++r) {
#pragma unroll
      for (int c = 0; c < kColumnTiles; ++c) {
#pragma unroll
        for (int i = 0; i < 4; ++i) witness += 0.0f * value[r][c][i];
      }
    }
    return witness == 0.0f;
  }
};

/// The row of a thread's row index, counted from the warp's tile.
inline int fragment_row(int thread_row) {
  return 16 * (thread_row / 2) + 8 * (thread_row % 2) + lane() / 4;
}

/// A operands: kRowTiles x kSteps tiles of 16x16.
template <int kRowTiles, int kSteps>
struct OperandA {
  unsigned value[kRowTiles][kSteps][4];
};

// Fragments are named by a row that may vary (the warp's) plus a row and column that the unrolled
// loops know: those go into the instruction as a constant offset.

/// One 16x16 A operand whose first element is tile.at(warp_row + row, column).
template <class Tile>
inline void load_operand_a(unsigned (&fragment)[4], const Tile& tile, int warp_row, int row,
                           int column) {
  load_matrix_x4(fragment, tile.at(warp_row + lane() % 16, 8 * (lane() / 16)),
                 Tile::offset(row, column));
}

/// Two B operands (16 deep, 8 wide each) of a tile whose rows are the columns of B, as for Q K^T.
template <class Tile>
inline void load_operand_b_rows(unsigned (&pair)[2][2], const Tile& tile, int row, int column) {
  const int lane_row = lane() % 8 + 8 * (lane() / 16);
  const int lane_column = 8 * (lane() / 8 % 2);
  load_matrix_x4(pair, tile.at(lane_row, lane_column), Tile::offset(row, column));
}

/// Two B operands of a tile stored as B itself, as for P V.
template <class Tile>
inline void load_operand_b(unsigned (&pair)[2][2], const Tile& tile, int row, int column) {
  load_matrix_x4_transposed(pair, tile.at(lane() % 16, 8 * (lane() / 16)),
                            Tile::offset(row, column));
}

/// Accumulators rounded to Element; they are already in the layout of an A operand.
template <class Element, int kRowTiles, int kColumnTiles>
inline OperandA<kRowTiles, kColumnTiles / 2> to_operand_a(
    const Accumulator<kRowTiles, kColumnTiles>& accumulator) {
  OperandA<kRowTiles, kColumnTiles / 2> operand;
#pragma unroll
  for (int r = 0; r < kRowTiles; ++r) {
#pragma unroll
    for (int step = 0; step < kColumnTiles / 2; ++step) {
      const float(&left)[4] = accumulator.value[r][2 * step];
      const float(&right)[4] = accumulator.value[r][2 * step + 1];
      operand.value[r][step][0] = pack(left[0], left[1], Element{});
      operand.value[r][step][1] = pack(left[2], left[3], Element{});
      operand.value[r][step][2] = pack(right[0], right[1], Element{});
      operand.value[r][step][3] = pack(right[2], right[3], Element{});
    }
  }
  return operand;
}

/// accumulator[.][column_tile, column_tile + 1] += a[.][step] * pair, for every row tile.
template <class Element, int kRowTiles, int kColumnTiles>
inline void multiply_pair(Accumulator<kRowTiles, kColumnTiles>& accumulator,
                          const unsigned (&a)[kRowTiles][4], const unsigned (&pair)[2][2],
                          int column_tile) {
#pragma unroll
  for (int r = 0; r < kRowTiles; ++r) {
    mma_m16n8k16(accumulator.value[r][column_tile], a[r], pair[0], Element{});
    mma_m16n8k16(accumulator.value[r][column_tile + 1], a[r], pair[1], Element{});
  }
}

/// sum += rows keys^T over kChain of depth from `first` on. load_rows(fragments, first, depth)
/// loads the rows' operands at first + depth, of which the unrolled loop knows the second.
template <class Element, int kChain, int kRowTiles, int kColumnTiles, class Tile, class LoadRows>
inline void add_score_chain(Accumulator<kRowTiles, kColumnTiles>& sum, const Tile& keys,
                            LoadRows load_rows, int first) {
  const auto chain_keys = view_from(keys, 0, first);
#pragma unroll
  for (int depth = 0; depth < kChain; depth += 16) {
    unsigned rows[kRowTiles][4];
    load_rows(rows, first, depth);
#pragma unroll
    for (int column_tile = 0; column_tile < kColumnTiles; column_tile += 2) {
      unsigned pair[2][2];
      load_operand_b_rows(pair, chain_keys, 8 * column_tile, depth);
      multiply_pair<Element>(sum, rows, pair, column_tile);
    }
  }
}

/// scores = rows keys^T over kDepth, in chains as templates/layout.cuh says. The first chain, which
/// takes what the others leave, goes into `scores`; the others share one accumulator. They are a
/// loop with kUnroll 1: unrolled, ptxas would start them all at once and run out of registers.
template <class Element, int kDepth, int kUnroll, class Scores, class Tile, class LoadRows>
inline void multiply_scores(Scores& scores, const Tile& keys, LoadRows load_rows) {
  constexpr int kChain = score_chain_depth(kDepth);
  constexpr int kFirst = kDepth - (score_chains(kDepth) - 1) * kChain;
  scores.clear();
  add_score_chain<Element, kFirst>(scores, keys, load_rows, 0);
#pragma unroll kUnroll
  for (int first = kFirst; first < kDepth; first += kChain) {
    Scores chain;
    chain.clear();
    add_score_chain<Element, kChain>(chain, keys, load_rows, first);
    scores.add(chain);
  }
}

}  // namespace heddle
