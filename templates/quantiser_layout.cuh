#pragma once
// What the quantiser's kernels, their launch and its host reference have to agree on. Plain
// constexpr arithmetic: no thread, no device.

#include "warpgroup_layout.cuh"

namespace heddle {

/// Columns that are rotated together: the largest power of two that divides the head dim.
constexpr int rotation_columns(int head_dim) {
  return head_dim & -head_dim;
}

/// 1 / sqrt(columns) of a power of two: by which the transform keeps lengths.
constexpr float rotation_factor(int columns) {
  float factor = 1.0f;
  for (; columns >= 4; columns /= 4) factor *= 0.5f;
  return columns == 2 ? factor * 0.707106781186547524f : factor;
}

/// Whether a column changes its sign before it is rotated; the same for every row, of Q and of K.
constexpr bool rotation_negates(unsigned seed, int column) {
  unsigned state = seed * 0x9e3779b9u + static_cast<unsigned>(column) * 0x85ebca6bu + 1u;
  state = (state ^ (state >> 16)) * 0x7feb352du;
  state = (state ^ (state >> 15)) * 0x846ca68bu;
  return (state ^ (state >> 16)) >> 31 != 0;
}

/// The largest e4m3 number: what the largest magnitude that shares a scale becomes.
constexpr float kLargestE4m3 = 448.0f;

/// The signs of the `chunk`th 32 columns, where a lane's shift finds those of two neighbours: of
/// columns 8t + 2w and 8t + 2w + 1 in bits 15 - (4t + w) and 31 - (4t + w), which shifted left by
/// 4t + w are the sign bits of two packed elements.
constexpr unsigned rotation_signs(unsigned seed, int chunk) {
  unsigned signs = 0;
  for (int pair = 0; pair < 16; ++pair) {
    const int column = 32 * chunk + 2 * pair;
    signs |= (rotation_negates(seed, column) ? 1u : 0u) << (15 - pair);
    signs |= (rotation_negates(seed, column + 1) ? 1u : 0u) << (31 - pair);
  }
  return signs;
}

/// Divides numbers from 0 up to 2^31 - 1 by one that the host knows, at least 1. A division by one
/// that only the kernel knows would be some thirty instructions before its first load.
struct KnownDivisor {
  unsigned multiplier;
  int shift;
  constexpr int divide(int number) const {
    return static_cast<int>(
        static_cast<unsigned long long>(multiplier) * static_cast<unsigned>(number) >> shift);
  }
};
constexpr KnownDivisor known_divisor(int divisor) {
  int bits = 0;
  while ((1ll << bits) < divisor) ++bits;
  const unsigned long long power = 1ull << (31 + bits);
  return {static_cast<unsigned>((power + static_cast<unsigned>(divisor) - 1) /
                                static_cast<unsigned>(divisor)),
          31 + bits};
}

/// Elements that a thread loads and stores at a time.
constexpr int kQuantiserElements = 8;
/// Columns that four lanes load at a time: what a rotation's matrix products take.
constexpr int kQuantiserChunk = 4 * kQuantiserElements;
/// Rows of the largest tile: those that share a block's scale.
constexpr int kQuantiserRows = 128;

/// How a row lies in the registers of a block: neighbouring `lanes` hold it, a power of two, of
/// which those past its end idle; `chunks` times eight columns each.
struct QuantiserLayout {
  int lanes;
  int chunks;
};
/// Eight neighbouring columns; of rows that are rotated every fourth group of eight, as matrix
/// products take them.
constexpr QuantiserLayout quantiser_layout(int head_dim, bool rotates) {
  if (rotates) return {4, head_dim / kQuantiserChunk};
  int lanes = 4;
  while (lanes * kQuantiserElements < head_dim) lanes *= 2;
  return {lanes, 1};
}
/// Rows of which a thread has its columns: 32 numbers in all, of the widest rotated rows more. Of
/// large tiles of rows as they came twice as many, since these stay packed: two such blocks fit an
/// SM, and one loads while the other works.
constexpr int quantiser_thread_rows(int head_dim, bool rotates, bool large) {
  if (rotates) return head_dim <= 32 ? 4 : head_dim <= 64 ? 2 : 1;
  return large && head_dim > 64 ? 8 : 4;
}
/// Rows of a tile that needs no certain number: small blocks, of which some load while others work.
/// Transposed, 32 would be columns of half lines.
constexpr int quantiser_small_rows(int head_dim, bool rotates, bool transposed) {
  if (head_dim <= 64) return kQuantiserRows;
  return rotates || transposed || head_dim <= 128 ? 64 : 32;
}

/// What is kept of a tile's columns: the sum of each, and where it is wanted the smallest and the
/// largest number.
constexpr int column_statistics(bool extremes) {
  return extremes ? 3 : 1;
}

static_assert(kQuantiserRows == kScaleBlockRows, "a tile is what shares a block's scale");
static_assert(rotation_factor(64) == 0.125f && rotation_factor(256) == 0.0625f, "");
static_assert(rotation_columns(96) == 32 && rotation_columns(192) == 64, "");
static_assert(known_divisor(1).divide(0x7fffffff) == 0x7fffffff, "");
static_assert(known_divisor(3).divide(0x7fffffff) == 0x7fffffff / 3, "");
static_assert(known_divisor(0x7fffffff).divide(0x7ffffffe) == 0, "");
static_assert(quantiser_layout(96, false).lanes == 16, "a power of two");
static_assert(quantiser_layout(128, true).chunks == 4, "");

}  // namespace heddle
