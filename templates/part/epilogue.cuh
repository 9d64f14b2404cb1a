#pragma once
// Writes a warp's finished rows.

#include "instruction/memory.cuh"
#include "part/fragment.cuh"
#include "part/sequence_info.cuh"
#include "part/shared_tile.cuh"

namespace heddle {

/// Rounds `output` to Element and stores rows [0, valid_rows) at `destination`. The entries go
/// through `staging` (rows [first_row, first_row + 16 * kRowTiles), this warp's own), because a
/// thread's pairs of columns would make stores of 4 bytes.
template <class Config, class Tile, int kRowTiles, int kColumnTiles>
inline void store_output(Accumulator<kRowTiles, kColumnTiles>& output, Tile& staging, int first_row,
                         typename Config::Element* destination, long long row_stride,
                         int valid_rows) {
  using Element = typename Config::Element;
  const int lane_column = 2 * (lane() % 4);
  // Other lanes may have read these rows a moment ago (ldmatrix of Q), which orders nothing.
  sync_warp();
#pragma unroll
  for (int row = 0; row < 2 * kRowTiles; ++row) {
#pragma unroll
    for (int c = 0; c < kColumnTiles; ++c) {
      const float* pair = &output.value[row / 2][c][2 * (row % 2)];
      store<4>(staging.at(first_row + fragment_row(row), 8 * c + lane_column),
               Bytes<4>{pack(pair[0], pair[1], Element{})});
    }
  }
  sync_warp();
  using Copy = TileCopy<Config, 16 * kRowTiles, kWarpSize>;
  Copy::for_each_piece(lane(), [&](const TilePiece& piece) {
    if (piece.row() >= valid_rows) return;
    store<Copy::kBytes>(destination + piece.row() * row_stride + piece.column(),
                        load<Copy::kBytes>(staging.at(first_row + piece.row(), piece.column())));
  });
}

/// Stores one of a thread's rows as fp32.
template <class Config, int kRowTiles, int kColumnTiles>
inline void store_partial_row(const Accumulator<kRowTiles, kColumnTiles>& output, int row,
                              float* to) {
  const int lane_column = 2 * (lane() % 4);
#pragma unroll
  for (int c = 0; c < Config::kHeadDim / 8; ++c) {
    const float* pair = &output.value[row / 2][c][2 * (row % 2)];
    store<8>(to + 8 * c + lane_column,
             Bytes<8>{{__float_as_uint(pair[0]), __float_as_uint(pair[1])}});
  }
}

/// Stores rows [0, valid_rows) as fp32, kHeadDim entries each, one row after the other.
template <class Config, int kRowTiles, int kColumnTiles>
inline void store_partial_output(Accumulator<kRowTiles, kColumnTiles>& output, float* destination,
                                 int valid_rows) {
#pragma unroll
  for (int row = 0; row < 2 * kRowTiles; ++row) {
    if (fragment_row(row) >= valid_rows) continue;
    store_partial_row<Config>(
        output, row, destination + static_cast<long long>(fragment_row(row)) * Config::kHeadDim);
  }
}

/// One value per row: the first of the four lanes that share a row stores it.
template <class Value, int kThreadRows>
inline void store_rows(const Value (&values)[kThreadRows], Value* destination, int valid_rows) {
  if (lane() % 4 != 0) return;
#pragma unroll
  for (int row = 0; row < kThreadRows; ++row) {
    if (fragment_row(row) < valid_rows) destination[fragment_row(row)] = values[row];
  }
}

}  // namespace heddle
