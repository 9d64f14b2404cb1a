#pragma once
// Where wgmma finds an operand in shared memory, decoded from the descriptor's bits as the PTX ISA
// has them ("Strides", "Matrix descriptor format"): a wrong field leads to wrong bytes.

#include <vector>

namespace heddle {

/// Part of an operand: `rows` of m or n from `first_row` on, and 32 bytes of depth.
struct OperandSlice {
  unsigned long long descriptor = 0;
  bool transposed = false;  ///< the depth runs over rows of shared memory; 16-bit elements only
  int first_row = 0;
  int rows = 0;  ///< a multiple of 8
};

/// Addresses of the 16-byte chunks of the slice. Depth in rows' direction: chunk 2 r + c holds row
/// r, bytes 16 c to 16 c + 15 of its depth. Transposed: chunk (rows / 8) k + j holds rows 8 j to
/// 8 j + 7 of depth k.
std::vector<unsigned> operand_chunks(const OperandSlice& slice);

}  // namespace heddle
