#pragma once
// The 64-bit number by which wgmma finds an operand in shared memory. Plain constexpr arithmetic
// for kernels, their host twin and tests.

#include "swizzle.cuh"

namespace heddle {

/// Which index of an operand runs along the 128-byte (64, 32) rows of shared memory: the depth k
/// (Q and K as they are stored), or m respectively n (V as it is stored). Values are those of
/// wgmma's imm-trans operands.
enum class Major { kK = 0, kMn = 1 };

/// How an operand lies relative to its first byte.
struct MatrixLayout {
  /// k-major: not used; MN-major: from one column block to the next, 64 elements further at 128 B.
  int leading_bytes;
  int stride_bytes;  ///< from eight rows of shared memory to the next eight
  Swizzle swizzle;
  int base_offset;  ///< 0 where the pattern begins at a multiple of swizzle_alignment()
};

/// Bits 0-13 start address / 16, 16-29 leading bytes / 16, 32-45 stride bytes / 16, 49-51 base
/// offset, 62-63 swizzle mode (0 none, 1 128 B, 2 64 B, 3 32 B).
struct MatrixDescriptor {
  unsigned long long bits;
};

/// `address` is the operand's shared-memory address. Bits above 17 name another block of the
/// cluster and would reach the leading-bytes field: they are masked.
constexpr MatrixDescriptor matrix_descriptor(unsigned address, MatrixLayout layout) {
  const auto field = [](unsigned value, int at) {
    return static_cast<unsigned long long>(value) << at;
  };
  const unsigned mode = (4u - static_cast<unsigned>(layout.swizzle)) % 4u;
  return {field((address & 0x3ffffu) >> 4, 0) |
          field(static_cast<unsigned>(layout.leading_bytes) >> 4 & 0x3fffu, 16) |
          field(static_cast<unsigned>(layout.stride_bytes) >> 4 & 0x3fffu, 32) |
          field(static_cast<unsigned>(layout.base_offset) & 7u, 49) | field(mode, 62)};
}

/// The same layout `bytes` (a multiple of 16) further on.
constexpr MatrixDescriptor advance(MatrixDescriptor descriptor, int bytes) {
  return {descriptor.bits + static_cast<unsigned long long>(static_cast<long long>(bytes / 16))};
}

// What a descriptor says, for whoever stands in for the hardware.

constexpr unsigned start_address(MatrixDescriptor descriptor) {
  return static_cast<unsigned>(descriptor.bits & 0x3fffu) << 4;
}

constexpr MatrixLayout layout_of(MatrixDescriptor descriptor) {
  const auto bytes = [&](int at) {
    return static_cast<int>((descriptor.bits >> at & 0x3fffu) << 4);
  };
  const int mode = static_cast<int>(descriptor.bits >> 62);
  return {bytes(16), bytes(32), static_cast<Swizzle>((4 - mode) % 4),
          static_cast<int>(descriptor.bits >> 49 & 7u)};
}

/// Layout of an operand inside a swizzled tile (not kNone): its rows are the operand's rows, its
/// columns the depth.
constexpr MatrixLayout k_major_layout(SwizzledTile tile) {
  return {16, swizzle_alignment(tile.swizzle), tile.swizzle, 0};
}

/// Layout of an operand whose depth runs over the tile's rows (16-bit elements only).
constexpr MatrixLayout mn_major_layout(SwizzledTile tile) {
  return {tile.block_bytes(), swizzle_alignment(tile.swizzle), tile.swizzle, 0};
}

/// From the operand's start to that of the wgmma numbered `step` along the depth: 32 bytes of each
/// row (16 elements of two bytes, 32 of one).
constexpr int k_major_step_bytes(SwizzledTile tile, int step) {
  const int span = swizzle_span(tile.swizzle);
  return 32 * step / span * tile.block_bytes() + 32 * step % span;
}

/// The same where the depth runs over rows: 16 of them.
constexpr int mn_major_step_bytes(SwizzledTile tile, int step) {
  return 16 * step * swizzle_span(tile.swizzle);
}

static_assert(matrix_descriptor(0x2000400, k_major_layout({128, Swizzle::k128})).bits ==
                  (1ull << 62 | 64ull << 32 | 1ull << 16 | 0x40ull),
              "1024 bytes from eight rows to the next; cluster bits of the address are gone");
static_assert(matrix_descriptor(0, mn_major_layout({80, Swizzle::k128})).bits ==
                  (1ull << 62 | 64ull << 32 | 80ull * 8 << 16),
              "80 rows of 128 bytes from one block of 64 columns to the next");
static_assert(matrix_descriptor(0, k_major_layout({256, Swizzle::k64})).bits >> 32 ==
                  (2ull << 30 | 32u),
              "64-byte rows: mode 2, 512 bytes");
static_assert(k_major_step_bytes({128, Swizzle::k128}, 5) == 128 * 128 + 32,
              "four steps in a block of 128 bytes");
static_assert(k_major_step_bytes({96, Swizzle::k32}, 2) == 2 * 96 * 32, "each step a block");
static_assert(mn_major_step_bytes({128, Swizzle::k128}, 1) == 2048, "16 rows");
static_assert(advance({5}, -32).bits == 3, "");

}  // namespace heddle
