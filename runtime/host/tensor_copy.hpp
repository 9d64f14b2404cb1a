#pragma once
// Which bytes a copy moves: a box of a tensor, or a plain run, as pieces of at most 16 bytes of
// shared memory.

#include <array>
#include <string>
#include <vector>

#include "runtime/host/tensor_map.hpp"

namespace heddle {

/// Part of a 16-byte chunk of shared memory.
struct CopyPiece {
  unsigned shared = 0;     ///< address in shared memory, as the hardware counts it
  char* global = nullptr;  ///< null: beyond the tensor
  int bytes = 0;
};

/// Why an H200 ends the kernel by "illegal instruction" for a box at `at`; empty if it does not.
std::string box_refusal(const TensorMapRequest& map, const int (&at)[5], bool store);

/// The pieces of the box at `at`, from `shared` on, swizzled by the bits of the shared address as
/// the TMA does it. They cover the whole box.
std::vector<CopyPiece> box_pieces(const TensorMapRequest& map, const int (&at)[5], unsigned shared);

/// The same for `bytes` bytes in a row.
std::vector<CopyPiece> run_pieces(void* global, unsigned shared, int bytes);

}  // namespace heddle
