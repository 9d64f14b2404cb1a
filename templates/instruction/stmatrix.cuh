#pragma once
// stmatrix: four 8x8 matrices of 16-bit elements from one register per lane each to shared memory
// (sm_90+). Lane l names the first byte of row l % 8 of matrix l / 8, 16-byte aligned.

#include "instruction/cp_async.cuh"

namespace heddle {

// The address is `row` + `offset` bytes: with a constant offset it becomes part of the instruction.

/// fragment[i] of lane l holds of matrix i: row l / 4, columns 2 * (l % 4) and the next.
inline void store_matrix_x4(void* row, int offset, const unsigned (&fragment)[4]) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                   shared_address(row) + offset),
               "r"(fragment[0]), "r"(fragment[1]), "r"(fragment[2]), "r"(fragment[3])
               : "memory");
}

/// The same with each matrix transposed on its way: column l / 4, rows 2 * (l % 4) and the next.
inline void store_matrix_x4_transposed(void* row, int offset, const unsigned (&fragment)[4]) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                   shared_address(row) + offset),
               "r"(fragment[0]), "r"(fragment[1]), "r"(fragment[2]), "r"(fragment[3])
               : "memory");
}

}  // namespace heddle
