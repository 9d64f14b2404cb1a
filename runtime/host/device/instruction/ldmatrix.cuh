#pragma once
// The host twin of templates/instruction/ldmatrix.cuh.

#include "host_calls.cuh"
#include "instruction/cp_async.cuh"

namespace heddle {

namespace host {
template <int kRegisters>
HEDDLE_TWIN void load_matrix(unsigned (&fragment)[kRegisters], const void* row,
                             WarpOperation operation) {
  WarpCall call;
  call.operation = operation;
  call.argument = kRegisters;
  call.address = row;
  warp_call(call);
  for (int i = 0; i < kRegisters; ++i) fragment[i] = call.a[i];
}
}  // namespace host

HEDDLE_TWIN void load_matrix_x4(unsigned (&fragment)[4], const void* row, int offset) {
  host::load_matrix(fragment, static_cast<const char*>(row) + offset,
                    host::WarpOperation::kLoadMatrix);
}
HEDDLE_TWIN void load_matrix_x4_transposed(unsigned (&fragment)[4], const void* row, int offset) {
  host::load_matrix(fragment, static_cast<const char*>(row) + offset,
                    host::WarpOperation::kLoadMatrixTransposed);
}

HEDDLE_TWIN void load_matrix_x4(unsigned (&pair)[2][2], const void* row, int offset) {
  unsigned fragment[4];
  load_matrix_x4(fragment, row, offset);
  pair[0][0] = fragment[0], pair[0][1] = fragment[1];
  pair[1][0] = fragment[2], pair[1][1] = fragment[3];
}
HEDDLE_TWIN void load_matrix_x4_transposed(unsigned (&pair)[2][2], const void* row, int offset) {
  unsigned fragment[4];
  load_matrix_x4_transposed(fragment, row, offset);
  pair[0][0] = fragment[0], pair[0][1] = fragment[1];
  pair[1][0] = fragment[2], pair[1][1] = fragment[3];
}

}  // namespace heddle
