#pragma once
// The host twin of templates/instruction/stmatrix.cuh.

#include "instruction/cp_async.cuh"

namespace heddle {

namespace host {
HEDDLE_TWIN void store_matrix(void* row, const unsigned (&fragment)[4], WarpOperation operation) {
  WarpCall call;
  call.operation = operation;
  call.argument = 4;
  call.address = row;
  for (int i = 0; i < 4; ++i) call.a[i] = fragment[i];
  warp_call(call);
}
}  // namespace host

HEDDLE_TWIN void store_matrix_x4(void* row, int offset, const unsigned (&fragment)[4]) {
  host::store_matrix(static_cast<char*>(row) + offset, fragment, host::WarpOperation::kStoreMatrix);
}
HEDDLE_TWIN void store_matrix_x4_transposed(void* row, int offset, const unsigned (&fragment)[4]) {
  host::store_matrix(static_cast<char*>(row) + offset, fragment,
                     host::WarpOperation::kStoreMatrixTransposed);
}

}  // namespace heddle
