#pragma once
// ldmatrix: four 8x8 matrices of 16-bit elements from shared memory into one register per lane
// each. Lane l names the first byte of row l % 8 of matrix l / 8, 16-byte aligned.
#include "instruction/cp_async.cuh"

namespace heddle {

// The address is `row` + `offset` bytes: with a constant offset it becomes part of the instruction.

/// Lane l receives of matrix i: row l / 4, columns 2 * (l % 4) and the next, in fragment[i].
inline void load_matrix_x4(unsigned (&fragment)[4], const void* row, int offset) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(fragment[0]), "=r"(fragment[1]), "=r"(fragment[2]), "=r"(fragment[3])
               : "r"(shared_address(row) + offset)
               : "memory");
}

/// The same with each matrix transposed: column l / 4, rows 2 * (l % 4) and the next.
inline void load_matrix_x4_transposed(unsigned (&fragment)[4], const void* row, int offset) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(fragment[0]), "=r"(fragment[1]), "=r"(fragment[2]), "=r"(fragment[3])
               : "r"(shared_address(row) + offset)
               : "memory");
}

/// Two B fragments of mma.m16n8k16 at once: matrices 0, 1 make the first and 2, 3 the second.
inline void load_matrix_x4(unsigned (&pair)[2][2], const void* row, int offset) {
  unsigned fragment[4];
  load_matrix_x4(fragment, row, offset);
  pair[0][0] = fragment[0], pair[0][1] = fragment[1];
  pair[1][0] = fragment[2], pair[1][1] = fragment[3];
}

inline void load_matrix_x4_transposed(unsigned (&pair)[2][2], const void* row, int offset) {
  unsigned fragment[4];
  load_matrix_x4_transposed(fragment, row, offset);
  pair[0][0] = fragment[0], pair[0][1] = fragment[1];
  pair[1][0] = fragment[2], pair[1][1] = fragment[3];
}

}  // namespace heddle
