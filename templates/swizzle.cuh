#pragma once
// How a tile lies in shared memory when TMA has written it and wgmma reads it. Plain constexpr
// arithmetic for both sides of the launch: no thread, no device.

namespace heddle {

/// Exchange of 16-byte chunks inside each row, so that a column of chunks meets every bank. The
/// name is the span in bytes: the width of a row. Values are those of CUtensorMapSwizzle.
enum class Swizzle { kNone = 0, k32 = 1, k64 = 2, k128 = 3 };

/// Bytes of a row.
constexpr int swizzle_span(Swizzle swizzle) {
  return 16 << static_cast<int>(swizzle);
}

/// The swizzle of rows of 32, 64 or 128 bytes.
constexpr Swizzle swizzle_of_span(int bytes) {
  if (bytes == 128) return Swizzle::k128;
  return bytes == 64 ? Swizzle::k64 : Swizzle::k32;
}

/// The pattern repeats after this many bytes, and its first byte must be a multiple of them.
constexpr int swizzle_alignment(Swizzle swizzle) {
  return 8 * swizzle_span(swizzle);
}

/// Where the byte at `offset` of a plain tile really is: address bits 4.. are xor-ed with bits 7..,
/// three of them for 128 bytes, two for 64, one for 32.
constexpr int swizzled(int offset, Swizzle swizzle) {
  const int mask = (1 << static_cast<int>(swizzle)) - 1;
  return offset ^ ((offset >> 7 & mask) << 4);
}
static_assert(swizzled(3 * 128 + 5 * 16, Swizzle::k128) == 3 * 128 + (5 ^ 3) * 16,
              "128 bytes: chunk c of row r goes to chunk c ^ (r % 8)");
static_assert(swizzled(9 * 128, Swizzle::k128) == 9 * 128 + 16, "and so on every eight rows");
static_assert(swizzled(2 * 64, Swizzle::k64) == 2 * 64 + 16, "64 bytes: c ^ (r / 2 % 4)");
static_assert(swizzled(4 * 32, Swizzle::k32) == 4 * 32 + 16, "32 bytes: c ^ (r / 4 % 2)");
static_assert(swizzled(777, Swizzle::kNone) == 777, "");

/// A tile of `rows` rows, cut into blocks of columns that are one swizzle span wide:
/// [column blocks][rows][span]. One TMA box {span, rows} fills one block.
struct SwizzledTile {
  int rows;
  Swizzle swizzle;

  constexpr int block_bytes() const { return rows * swizzle_span(swizzle); }

  /// Of a tile whose rows have `row_bytes` bytes, a multiple of the span.
  constexpr int bytes(int row_bytes) const { return rows * row_bytes; }

  /// Byte `column` of row `row`.
  constexpr int offset(int row, int column) const {
    const int span = swizzle_span(swizzle);
    return column / span * block_bytes() + swizzled(row * span + column % span, swizzle);
  }

  /// Whether each block begins where the pattern does.
  constexpr bool is_aligned() const { return block_bytes() % swizzle_alignment(swizzle) == 0; }
};
static_assert(SwizzledTile{128, Swizzle::k128}.offset(1, 128 + 32) == 128 * 128 + 128 + 48,
              "second block, row 1: chunk 2 of the row at chunk 3");
static_assert(SwizzledTile{80, Swizzle::k128}.is_aligned(), "rows are a multiple of eight");

}  // namespace heddle
