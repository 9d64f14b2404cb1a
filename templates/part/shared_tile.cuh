#pragma once
// Matrices of 16-bit elements in shared memory, and how a block fills them from global memory.

#include "instruction/cp_async.cuh"
#include "instruction/math.cuh"
#include "instruction/thread.cuh"
#include "instruction/types.cuh"
#include "layout.cuh"

namespace heddle {

/// kRowCount x kColumnCount elements. Each row is followed by 16 unused bytes: the pitch is then an
/// odd multiple of 16 bytes, so that the eight rows of an ldmatrix fall into different banks while
/// every address stays base + constant (an XOR swizzle would cost instructions for each).
template <class Element, int kRowCount, int kColumnCount>
struct alignas(16) SharedTile {
  static constexpr int kRows = kRowCount;
  static constexpr int kColumns = kColumnCount;
  static constexpr int kPitch = shared_tile_pitch(kColumnCount);
  static_assert(kColumnCount % 16 == 0, "a padded head dimension is a multiple of 16");

  Element elements[kRows * kPitch];

  /// Bytes from one element to the one `row` rows and `column` columns further.
  static constexpr int offset(int row, int column) {
    return (row * kPitch + column) * static_cast<int>(sizeof(Element));
  }

  Element* at(int row, int column) { return elements + row * kPitch + column; }
  const Element* at(int row, int column) const { return elements + row * kPitch + column; }
};

constexpr int power_of_two_at_least(int value) {
  int power = 1;
  while (power < value) power *= 2;
  return power;
}

/// A piece of a row that one thread copies: at the thread's own row and column plus an offset that
/// the unrolled loop knows.
struct TilePiece {
  int thread_row;
  int thread_column;
  int row_offset;
  int column_offset;

  int row() const { return thread_row + row_offset; }
  int column() const { return thread_column + column_offset; }
};

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

  /// Few pieces are worth straight-line code; narrow ones come in such numbers that it would only
  /// cost registers and compile time.
  static constexpr int kUnroll = kPasses * ceil_divide(kRowPieces, kRowThreads) <= 24 ? kPasses : 1;

  /// Calls visit(piece) for every piece that this thread copies.
  template <class Visit>
  static void for_each_piece(int thread, Visit visit) {
    const int thread_row = thread / kRowThreads;
    const int thread_column = thread % kRowThreads * kPiece;
#pragma unroll kUnroll
    for (int row = 0; row < kPasses * kPassRows; row += kPassRows) {
      if (kRows % kPassRows != 0 && thread_row + row >= kRows) continue;
#pragma unroll
      for (int column = 0; column < Config::kHeadDim; column += kRowThreads * kPiece) {
        if (kRowPieces % kRowThreads != 0 && thread_column + column >= Config::kHeadDim) continue;
        visit(TilePiece{thread_row, thread_column, row, column});
      }
    }
  }

  /// Where this thread's first piece of a matrix lies.
  static const Element* thread_source(const Element* source, long long row_stride) {
    return source + thread_index() / kRowThreads * row_stride +
           thread_index() % kRowThreads * kPiece;
  }

  /// Starts to fill `tile` with rows [0, valid_rows) of `source`; the rows after them become zero
  /// and are not read. The caller commits and waits.
  static void load(Tile& tile, const Element* source, long long row_stride, int valid_rows) {
    load_thread_pieces(tile, thread_source(source, row_stride), row_stride, valid_rows);
  }

  /// The same from what thread_source returned.
  static void load_thread_pieces(Tile& tile, const Element* thread_source, long long row_stride,
                                 int valid_rows) {
    if (valid_rows >= kRows) {
      load_rows<true>(tile, thread_source, row_stride, valid_rows);
    } else {
      load_rows<false>(tile, thread_source, row_stride, valid_rows);
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

 private:
  template <bool kAllValid>
  static void load_rows(Tile& tile, const Element* thread_source, long long row_stride,
                        int valid_rows) {
    for_each_piece(thread_index(), [&](const TilePiece& piece) {
      const Element* from = thread_source + piece.row_offset * row_stride + piece.column_offset;
      const bool valid = kAllValid || piece.row() < valid_rows;
      if constexpr (kBytes == 2) {
        *tile.at(piece.row(), piece.column()) = valid ? *from : Element{};
      } else {
        Element* to = tile.at(piece.thread_row, piece.thread_column);
        const int offset = Tile::offset(piece.row_offset, piece.column_offset);
        if constexpr (kAllValid) {
          copy_async<kBytes>(to, offset, from);
        } else {
          copy_async<kBytes>(to, offset, from, valid);
        }
      }
    });
  }
};

}  // namespace heddle
