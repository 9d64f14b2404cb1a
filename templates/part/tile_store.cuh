#pragma once
// Writes a warpgroup's finished rows through shared memory, by TMA: whole lines reach L2, and
// nobody waits for them.

#include "instruction/bulk_copy.cuh"
#include "instruction/stmatrix.cuh"
#include "instruction/tma.cuh"
#include "part/fragment.cuh"
#include "swizzle.cuh"

namespace heddle {

/// Rounds a warp's 16 rows to Element and writes them to rows `first_row` on of a swizzled tile.
template <class Element, int kColumnTiles>
inline void stage_fragment_rows(const Accumulator<1, kColumnTiles>& output, unsigned char* tile,
                                SwizzledTile layout, int first_row) {
  const int row = first_row + lane() % 16;
#pragma unroll
  for (int c = 0; c < kColumnTiles; c += 2) {
    const float(&left)[4] = output.value[0][c];
    const bool is_last = c + 1 == kColumnTiles;  // beside it are columns that no box takes
    const float(&right)[4] = output.value[0][is_last ? c : c + 1];
    const unsigned fragment[4] = {
        pack(left[0], left[1], Element{}), pack(left[2], left[3], Element{}),
        pack(right[0], right[1], Element{}), pack(right[2], right[3], Element{})};
    store_matrix_x4(tile + layout.offset(row, 16 * c + lane() / 16 * 16), 0, fragment);
  }
}

/// Writes one entry of such a row.
template <class Element>
inline void stage_entry(unsigned char* tile, SwizzledTile layout, int row, int column,
                        Element entry) {
  *reinterpret_cast<Element*>(tile + layout.offset(row, 2 * column)) = entry;
}

}  // namespace heddle
