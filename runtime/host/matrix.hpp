#pragma once
// mma.sync and ldmatrix for a whole warp, with the fragments' layouts of the PTX ISA ("Matrix
// Fragments for mma.m16n8k16", "… mma.m16n8k32", "Warp-level matrix load instruction").

#include <array>
#include <span>

#include "runtime/host/device/host_calls.cuh"

namespace heddle {

using WarpCalls = std::array<host::WarpCall*, 32>;

/// accumulator += a * b, as AlignedSum adds.
void multiply_matrices(const WarpCalls& lanes, host::WarpOperation operation);

/// Each lane's `address` names a row of 16 bytes; the rows of matrix i are those of lanes 8 i to
/// 8 i + 7. The caller has checked that they may be read.
void load_matrices(const WarpCalls& lanes, bool transposed);
/// The same from the registers to the rows.
void store_matrices(const WarpCalls& lanes, bool transposed);

}  // namespace heddle
