#pragma once
// Writes a warpgroup's finished rows through shared memory, by TMA: whole lines reach L2, and
// nobody waits for them.

#include "instruction/bulk_copy.cuh"
#include "instruction/stmatrix.cuh"
#include "instruction/tma.cuh"
#include "part/fragment.cuh"
#include "swizzle.cuh"

namespace heddle {

/// Writes a warp's 16 rows to rows `first_row` on of a swizzled tile.
template <int kColumnTiles>
inline void stage_rows(const RoundedRows<kColumnTiles>& rows, unsigned char* tile,
                       SwizzledTile layout, int first_row) {
  const int row = first_row + lane() % 16;
#pragma unroll
  for (int c = 0; c < kColumnTiles; c += 2) {
    const bool is_last = c + 1 == kColumnTiles;  // beside it are columns that no box takes
    const int right = is_last ? c : c + 1;
    const unsigned fragment[4] = {rows.pair[c][0], rows.pair[c][1], rows.pair[right][0],
                                  rows.pair[right][1]};
    store_matrix_x4(tile + layout.offset(row, 16 * c + lane() / 16 * 16), 0, fragment);
  }
}

}  // namespace heddle
