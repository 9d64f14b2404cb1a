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

/// Elements that a thread loads and stores at a time.
constexpr int kQuantiserElements = 8;
/// Rows of a block's tile, all in its threads' registers: those that share a block's scale.
constexpr int kQuantiserRows = 128;
/// Rows of a tile that each thread has elements of.
constexpr int kQuantiserRowsPerThread = 4;

/// Lanes that hold a row, a power of two; those past its end idle.
constexpr int quantiser_row_lanes(int head_dim) {
  int lanes = 4;
  while (lanes * kQuantiserElements < head_dim) lanes *= 2;
  return lanes;
}
constexpr int quantiser_threads(int head_dim) {
  return kQuantiserRows / kQuantiserRowsPerThread * quantiser_row_lanes(head_dim);
}

/// What is kept of a tile's columns: the sum of each, and where it is wanted the smallest and the
/// largest number.
constexpr int column_statistics(bool extremes) {
  return extremes ? 3 : 1;
}

static_assert(kQuantiserRows == kScaleBlockRows, "a tile is what shares a block's scale");
static_assert(rotation_factor(64) == 0.125f && rotation_factor(256) == 0.0625f, "");
static_assert(rotation_columns(96) == 32 && rotation_columns(192) == 64, "");
static_assert(quantiser_row_lanes(96) == 16 && quantiser_threads(128) == 512, "");

}  // namespace heddle
