#pragma once
// Matrices of 16-bit elements in shared memory, and how a block fills them from global memory.

#include "instruction/cp_async.cuh"
#include "instruction/math.cuh"
#include "instruction/thread.cuh"
#include "instruction/types.cuh"

namespace heddle {

/// kRowCount x kColumnCount elements. Each row is followed by 16 unused bytes: the pitch is then an
/// odd multiple of 16 bytes, so that the eight rows of an ldmatrix fall into different banks while
/// every address stays base + constant (an XOR swizzle would cost instructions for each).
template <class Element, int kRowCount, int kColumnCount>
struct alignas(16) SharedTile {
  static constexpr int kRows = kRowCount;
  static constexpr int kColumns = kColumnCount;
  static constexpr int kPitch = kColumnCount + 8;
  static_assert(kColumnCount % 16 == 0, "a padded head dimension is a multiple of 16");

  Element elements[kRows * kPitch];

  Element* at(int row, int column) { return elements + row * kPitch + column; }
  const Element* at(int row, int column) const { return elements + row * kPitch + column; }
};

constexpr int power_of_two_at_least(int value) {
  int power = 1;
  while (power < value) power *= 2;
  return power;
}

/// Copies kRows rows of Config::kHeadDim elements between a matrix in global memory and a
/// SharedTile, Config::kAlignment bytes at a time, with all threads of the block or (epilogue) of
/// one warp. Neighbouring threads take neighbouring pieces of a row.
template <class Config, int kRows, int kThreads = Config::kThreads>
struct TileCopy {
  using Element = typename Config::Element;
  using Tile = SharedTile<Element, kRows, Config::kHeadDimPadded>;

  static constexpr int kBytes = Config::kAlignment;
  static constexpr int kPiece = kBytes / static_cast<int>(sizeof(Element));
  static constexpr int kRowPieces = Config::kHeadDim / kPiece;
  static constexpr int kRowThreads =
      kRowPieces >= kWarpSize ? kWarpSize : power_of_two_at_least(kRowPieces);
  static constexpr int kPassRows = kThreads / kRowThreads;
  static constexpr int kPasses = ceil_divide(kRows, kPassRows);
  static_assert(kBytes == 16 || kBytes == 8 || kBytes == 4 || kBytes == 2);

  /// Calls visit(row, column) for every piece that this thread copies.
  template <class Visit>
  static void for_each_piece(int thread, Visit visit) {
    const int first_row = thread / kRowThreads;
    const int first_piece = thread % kRowThreads;
#pragma unroll
    for (int pass = 0; pass < kPasses; ++pass) {
      const int row = first_row + pass * kPassRows;
      if (kRows % kPassRows != 0 && row >= kRows) continue;
#pragma unroll
      for (int offset = 0; offset < kRowPieces; offset += kRowThreads) {
        const int piece = first_piece + offset;
        if (kRowPieces % kRowThreads != 0 && piece >= kRowPieces) continue;
        visit(row, piece * kPiece);
      }
    }
  }

  /// Starts to fill `tile` with rows [0, valid_rows) of `source`; the rows after them become zero
  /// and are not read. The caller commits and waits.
  static void load(Tile& tile, const Element* source, long long row_stride, int valid_rows) {
    if (valid_rows >= kRows) {
      for_each_piece(thread_index(), [&](int row, int column) {
        const Element* from = source + row * row_stride + column;
        if constexpr (kBytes >= 4) {
          copy_async<kBytes>(tile.at(row, column), from);
        } else {
          *tile.at(row, column) = *from;
        }
      });
    } else {
      for_each_piece(thread_index(), [&](int row, int column) {
        const Element* from = source + row * row_stride + column;
        const bool valid = row < valid_rows;
        if constexpr (kBytes >= 4) {
          copy_async<kBytes>(tile.at(row, column), from, valid);
        } else {
          *tile.at(row, column) = valid ? *from : Element{};
        }
      });
    }
  }

  /// Zeroes the columns between kHeadDim and kHeadDimPadded, which no load ever touches.
  static void clear_padding(Tile& tile) {
    if constexpr (Config::kHeadDim != Config::kHeadDimPadded) {
      static_assert(Config::kHeadDimPadded - Config::kHeadDim == 8);
      for (int row = thread_index(); row < kRows; row += kThreads) {
        store<16>(tile.at(row, Config::kHeadDim), Bytes<16>{});
      }
    }
  }
};

}  // namespace heddle
